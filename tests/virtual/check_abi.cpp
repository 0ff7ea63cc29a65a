// Our own declarations of CUDA's binary interface against NVIDIA's headers: compiles where they agree.
#include <cuda.h>
#include <cuda_runtime_api.h>

#define GAPLESS_CUDA_MAJOR (CUDART_VERSION / 1000)
#include "abi/driver.h"
#include "abi/runtime.h"
#include "card/results.h"

namespace abi = gapless::abi;

#define SAME_SIZE(OURS, THEIRS) static_assert(sizeof(OURS) == sizeof(THEIRS))
#define SAME_PLACE(OURS, MEMBER, THEIRS, THEIR_MEMBER) \
  static_assert(offsetof(OURS, MEMBER) == offsetof(THEIRS, THEIR_MEMBER))
#define SAME_PROPERTY(MEMBER, THEIR_MEMBER) SAME_PLACE(abi::DeviceProperties, MEMBER, cudaDeviceProp, THEIR_MEMBER)

SAME_SIZE(abi::DeviceProperties, cudaDeviceProp);
SAME_PROPERTY(name, name);
SAME_PROPERTY(uuid, uuid);
SAME_PROPERTY(total_bytes, totalGlobalMem);
SAME_PROPERTY(shared_per_block, sharedMemPerBlock);
SAME_PROPERTY(registers_per_block, regsPerBlock);
SAME_PROPERTY(warp_size, warpSize);
SAME_PROPERTY(pitch, memPitch);
SAME_PROPERTY(threads_per_block, maxThreadsPerBlock);
SAME_PROPERTY(block_size, maxThreadsDim);
SAME_PROPERTY(grid_size, maxGridSize);
SAME_PROPERTY(constant_bytes, totalConstMem);
SAME_PROPERTY(capability_major, major);
SAME_PROPERTY(capability_minor, minor);
SAME_PROPERTY(texture_alignment, textureAlignment);
SAME_PROPERTY(texture_pitch_alignment, texturePitchAlignment);
SAME_PROPERTY(multiprocessors, multiProcessorCount);
SAME_PROPERTY(integrated, integrated);
SAME_PROPERTY(maps_host_memory, canMapHostMemory);
SAME_PROPERTY(textures_and_surfaces, maxTexture1D);
SAME_PROPERTY(surface_alignment, surfaceAlignment);
SAME_PROPERTY(concurrent_kernels, concurrentKernels);
SAME_PROPERTY(ecc, ECCEnabled);
SAME_PROPERTY(pci_bus, pciBusID);
SAME_PROPERTY(pci_device, pciDeviceID);
SAME_PROPERTY(pci_domain, pciDomainID);
SAME_PROPERTY(async_engines, asyncEngineCount);
SAME_PROPERTY(unified_addressing, unifiedAddressing);
SAME_PROPERTY(memory_bus_bits, memoryBusWidth);
SAME_PROPERTY(l2_bytes, l2CacheSize);
SAME_PROPERTY(persisting_l2_bytes, persistingL2CacheMaxSize);
SAME_PROPERTY(threads_per_multiprocessor, maxThreadsPerMultiProcessor);
SAME_PROPERTY(stream_priorities, streamPrioritiesSupported);
SAME_PROPERTY(global_l1, globalL1CacheSupported);
SAME_PROPERTY(shared_per_multiprocessor, sharedMemPerMultiprocessor);
SAME_PROPERTY(registers_per_multiprocessor, regsPerMultiprocessor);
SAME_PROPERTY(managed_memory, managedMemory);
SAME_PROPERTY(compute_preemption, computePreemptionSupported);
SAME_PROPERTY(cooperative_launch, cooperativeLaunch);
SAME_PROPERTY(shared_per_block_optin, sharedMemPerBlockOptin);
SAME_PROPERTY(blocks_per_multiprocessor, maxBlocksPerMultiProcessor);
SAME_PROPERTY(access_window_bytes, accessPolicyMaxWindowSize);
SAME_PROPERTY(shared_reserved_per_block, reservedSharedMemPerBlock);
SAME_PROPERTY(host_register, hostRegisterSupported);
SAME_PROPERTY(memory_pools, memoryPoolsSupported);
SAME_PROPERTY(ipc_events, ipcEventSupported);
SAME_PROPERTY(cluster_launch, clusterLaunch);
SAME_PROPERTY(unified_function_pointers, unifiedFunctionPointers);
SAME_PROPERTY(reserved, reserved);

SAME_SIZE(abi::PointerAttributes, cudaPointerAttributes);
SAME_PLACE(abi::PointerAttributes, type, cudaPointerAttributes, type);
SAME_PLACE(abi::PointerAttributes, device, cudaPointerAttributes, device);
SAME_PLACE(abi::PointerAttributes, device_pointer, cudaPointerAttributes, devicePointer);
SAME_PLACE(abi::PointerAttributes, host_pointer, cudaPointerAttributes, hostPointer);

SAME_SIZE(abi::FunctionAttributes, cudaFuncAttributes);
SAME_PLACE(abi::FunctionAttributes, threads_per_block, cudaFuncAttributes, maxThreadsPerBlock);
SAME_PLACE(abi::FunctionAttributes, registers, cudaFuncAttributes, numRegs);
SAME_PLACE(abi::FunctionAttributes, ptx_version, cudaFuncAttributes, ptxVersion);
SAME_PLACE(abi::FunctionAttributes, binary_version, cudaFuncAttributes, binaryVersion);
SAME_PLACE(abi::FunctionAttributes, dynamic_shared_bytes, cudaFuncAttributes, maxDynamicSharedSizeBytes);

SAME_SIZE(abi::IpcHandle, cudaIpcMemHandle_t);
SAME_SIZE(abi::IpcHandle, cudaIpcEventHandle_t);
SAME_SIZE(abi::Dim3, dim3);
static_assert(int(gapless::card::kOutOfMemory) == int(cudaErrorMemoryAllocation));
static_assert(int(gapless::card::kMissingConfiguration) == int(cudaErrorMissingConfiguration));
static_assert(int(gapless::card::kNoDevice) == int(cudaErrorNoDevice));
static_assert(int(gapless::card::kInvalidDevice) == int(cudaErrorInvalidDevice));
static_assert(int(gapless::card::kNotFound) == int(cudaErrorSymbolNotFound));
static_assert(int(gapless::card::kNotReady) == int(cudaErrorNotReady));
static_assert(int(gapless::card::kNotSupported) == int(cudaErrorNotSupported));
static_assert(int(abi::kMemoryHost) == int(cudaMemoryTypeHost));
static_assert(int(abi::kMemoryDevice) == int(cudaMemoryTypeDevice));
static_assert(int(abi::kCaptureActive) == int(cudaStreamCaptureStatusActive));

SAME_SIZE(abi::AllocationProperties, CUmemAllocationProp);
SAME_PLACE(abi::AllocationProperties, location, CUmemAllocationProp, location);
SAME_PLACE(abi::MemoryLocation, id, CUmemLocation, id);
static_assert(int(abi::kPointerContext) == int(CU_POINTER_ATTRIBUTE_CONTEXT));
static_assert(int(abi::kPointerMemoryType) == int(CU_POINTER_ATTRIBUTE_MEMORY_TYPE));
static_assert(int(abi::kPointerDevicePointer) == int(CU_POINTER_ATTRIBUTE_DEVICE_POINTER));
static_assert(int(abi::kPointerBufferId) == int(CU_POINTER_ATTRIBUTE_BUFFER_ID));
static_assert(int(abi::kPointerDeviceOrdinal) == int(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL));
static_assert(int(abi::kDriverMemoryDevice) == int(CU_MEMORYTYPE_DEVICE));
static_assert(int(abi::kFunctionThreadsPerBlock) == int(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
static_assert(int(abi::kFunctionRegisters) == int(CU_FUNC_ATTRIBUTE_NUM_REGS));
static_assert(int(gapless::card::kInvalidValue) == int(CUDA_ERROR_INVALID_VALUE));
static_assert(int(gapless::card::kOutOfMemory) == int(CUDA_ERROR_OUT_OF_MEMORY));
static_assert(int(gapless::card::kNoDevice) == int(CUDA_ERROR_NO_DEVICE));
static_assert(int(gapless::card::kInvalidDevice) == int(CUDA_ERROR_INVALID_DEVICE));
static_assert(int(gapless::card::kNotFound) == int(CUDA_ERROR_NOT_FOUND));
static_assert(int(gapless::card::kNotReady) == int(CUDA_ERROR_NOT_READY));
static_assert(int(gapless::card::kNotSupported) == int(CUDA_ERROR_NOT_SUPPORTED));
