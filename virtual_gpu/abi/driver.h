// Declarations of our own for the part of the CUDA driver's binary interface that the stand-in needs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "card/export.h"

namespace gapless::abi {

struct MemoryLocation {
  int type;
  int id;  // of the device
};

// What physical memory is asked for.
struct AllocationProperties {
  int type;
  int handle_types;
  MemoryLocation location;
  void* windows;
  struct {
    unsigned char compression, rdma;
    unsigned short usage;
    unsigned char reserved[4];
  } flags;
};

enum PointerAttribute : int {
  kPointerContext = 1,
  kPointerMemoryType = 2,
  kPointerDevicePointer = 3,
  kPointerBufferId = 7,
  kPointerDeviceOrdinal = 9,
};
constexpr unsigned kDriverMemoryDevice = 2;

enum FunctionAttribute : int { kFunctionThreadsPerBlock = 0, kFunctionRegisters = 4 };

}  // namespace gapless::abi
