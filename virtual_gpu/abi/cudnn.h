// Declarations of our own for the part of cuDNN 9's binary interface that the stand-in needs. Every handle is a
// pointer, every enumeration an int.
#pragma once

#include <cstddef>
#include <cstdint>

#include "card/export.h"

namespace gapless::abi {

enum CudnnDataType : int { kCudnnDouble = 1, kCudnnHalf = 2, kCudnnBFloat16 = 9 };
enum CudnnRnn : int { kRnnNoBias = 0, kRnnBidirectional = 1, kRnnLstm = 2, kRnnGru = 3, kRnnTraining = 1 };

// Types of attributes of the backend interface.
enum CudnnAttributeType : int {
  kAttributeHandle = 0,
  kAttributeBoolean = 2,
  kAttributeInt64 = 3,
  kAttributeFloat = 4,
  kAttributeDouble = 5,
  kAttributePointer = 6,
  kAttributeDescriptor = 15,
  kAttributeInt32 = 23,
  kAttributeChar = 24,
  kAttributeFraction = 26,
};

enum CudnnAttribute : int {
  kHeuristicResults = 202,
  kEngineConfigEngine = 300,
  kEngineConfigWorkspace = 303,
  kEngineConfigSharedMemory = 304,
  kPlanEngineConfig = 401,
  kPlanWorkspace = 402,
  kGraphEngineCount = 802,
  kEngineIndex = 1301,
};

// How fast an algorithm is said to be; alike for all three directions of a convolution.
struct CudnnAlgorithm {
  int algorithm;
  int status;
  float time;
  std::size_t workspace_bytes;
  int determinism;
  int math;
  int reserved[3];
};

}  // namespace gapless::abi
