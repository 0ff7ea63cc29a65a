// Declarations of our own for the part of the CUDA runtime's binary interface that the stand-ins need. Where a CUDA
// toolkit's headers are installed, tests/virtual/check_abi.cpp compares every size and offset with them.
//
// GAPLESS_CUDA_MAJOR is 12 or 13: the two differ in what a device's properties and pointer attributes hold.
#pragma once

#include <cstddef>
#include <cstdint>

#include "card/export.h"

namespace gapless::abi {

struct Dim3 {
  unsigned x, y, z;
};

struct Uuid {
  char bytes[16];
};

// Fields that nobody here sets stand together in one array.
struct DeviceProperties {
  char name[256];
  Uuid uuid;
  char luid[8];
  unsigned luid_mask;
  std::size_t total_bytes;
  std::size_t shared_per_block;
  int registers_per_block;
  int warp_size;
  std::size_t pitch;
  int threads_per_block;
  int block_size[3];
  int grid_size[3];
#if GAPLESS_CUDA_MAJOR < 13
  int clock_khz;
#endif
  std::size_t constant_bytes;
  int capability_major;
  int capability_minor;
  std::size_t texture_alignment;
  std::size_t texture_pitch_alignment;
#if GAPLESS_CUDA_MAJOR < 13
  int device_overlap;
#endif
  int multiprocessors;
#if GAPLESS_CUDA_MAJOR < 13
  int kernel_timeout;
#endif
  int integrated;
  int maps_host_memory;
#if GAPLESS_CUDA_MAJOR < 13
  int compute_mode;
  int textures_and_surfaces[40];
#else
  int textures_and_surfaces[39];
#endif
  std::size_t surface_alignment;
  int concurrent_kernels;
  int ecc;
  int pci_bus;
  int pci_device;
  int pci_domain;
  int tcc;
  int async_engines;
  int unified_addressing;
#if GAPLESS_CUDA_MAJOR < 13
  int memory_clock_khz;
#endif
  int memory_bus_bits;
  int l2_bytes;
  int persisting_l2_bytes;
  int threads_per_multiprocessor;
  int stream_priorities;
  int global_l1;
  int local_l1;
  std::size_t shared_per_multiprocessor;
  int registers_per_multiprocessor;
  int managed_memory;
  int multi_gpu_board;
  int multi_gpu_group;
  int host_native_atomics;
#if GAPLESS_CUDA_MAJOR < 13
  int single_to_double_ratio;
#endif
  int pageable_access;
  int concurrent_managed_access;
  int compute_preemption;
  int registered_host_pointer;
  int cooperative_launch;
#if GAPLESS_CUDA_MAJOR < 13
  int cooperative_multi_device;
#endif
  std::size_t shared_per_block_optin;
  int pageable_host_tables;
  int direct_managed_access;
  int blocks_per_multiprocessor;
  int access_window_bytes;
  std::size_t shared_reserved_per_block;
  int host_register;
  int sparse_arrays;
  int host_register_read_only;
  int timeline_semaphores;
  int memory_pools;
  int rdma;
  unsigned rdma_flush;
  int rdma_ordering;
  unsigned pool_handle_types;
  int deferred_arrays;
  int ipc_events;
  int cluster_launch;
  int unified_function_pointers;
#if GAPLESS_CUDA_MAJOR < 13
  int reserved[63];
#else
  int numa_and_pci[7];
  int reserved[56];
#endif
};

enum MemoryType : int { kMemoryUnregistered = 0, kMemoryHost = 1, kMemoryDevice = 2 };

struct PointerAttributes {
  int type;
  int device;
  void* device_pointer;
  void* host_pointer;
#if GAPLESS_CUDA_MAJOR >= 13
  long reserved[8];
#endif
};

struct FunctionAttributes {
  std::size_t shared_bytes, constant_bytes, local_bytes;
  int threads_per_block;
  int registers;
  int ptx_version;
  int binary_version;
  int cache_mode;
  int dynamic_shared_bytes;
  int shared_carveout;
  int cluster[5];
  int non_portable_cluster;
  int reserved[16];
};

struct IpcHandle {  // passed by value
  char reserved[64];
};

enum CaptureStatus : int { kCaptureNone = 0, kCaptureActive = 1 };

}  // namespace gapless::abi
