#include "card/attributes.h"

#include <algorithm>

#include "card/settings.h"

namespace gapless::card {
namespace {

struct Attribute {
  int number;  // as CUdevice_attribute
  int value;
};

// What all cards have in common.
constexpr Attribute kCommon[] = {
    {1, 1024},         // threads per block
    {2, 1024},         // size of a block: x,
    {3, 1024},         // y,
    {4, 64},           // z
    {5, 2147483647},   // size of a grid: x,
    {6, 65535},        // y,
    {7, 65535},        // z
    {8, 48 << 10},     // shared memory per block
    {9, 64 << 10},     // constant memory
    {10, 32},          // threads in a warp
    {11, 2147483647},  // pitch
    {12, 65536},       // registers per block
    {13, 1980000},     // clock, kHz
    {14, 512},         // alignment of textures
    {15, 1},           // copies beside kernels
    {19, 1},           // maps host memory
    {31, 1},           // kernels beside kernels
    {33, 1},           // PCI bus
    {36, 2619000},     // clock of the memory, kHz
    {37, 5120},        // width of its bus, bits
    {40, 3},           // copy engines
    {41, 1},           // unified addresses
    {78, 1},           // priorities of streams
    {79, 1},           // L1 for global memory,
    {80, 1},           // for local memory
    {83, 1},           // managed memory
    {90, 1},           // preemption
    {95, 1},           // cooperative launch
    {99, 1},           // registers host memory
    {102, 1},          // virtual memory management,
    {103, 1},          // with file descriptors
    {106, 32},         // blocks per multiprocessor
    {108, 128 << 20},  // window of access policies
    {111, 1 << 10},    // shared memory that the system keeps, per block
    {115, 1},          // memory pools
};

}  // namespace

int device_attribute(int number) {
  const Settings& s = settings();
  const Attribute own[] = {
      {16, s.multiprocessors},
      {38, static_cast<int>(s.l2_cache)},
      {39, s.threads_per_multiprocessor},
      {75, s.capability / 10},
      {76, s.capability % 10},
      {81, static_cast<int>(s.shared_per_multiprocessor)},
      {82, s.registers_per_multiprocessor},
      {97, static_cast<int>(s.shared_per_block)},
      {120, s.capability >= 90 ? 1 : 0},  // clusters of blocks
  };
  const auto is_it = [number](const Attribute& attribute) { return attribute.number == number; };
  if (const auto found = std::find_if(std::begin(own), std::end(own), is_it); found != std::end(own)) {
    return found->value;
  }
  const auto found = std::find_if(std::begin(kCommon), std::end(kCommon), is_it);
  return found != std::end(kCommon) ? found->value : 0;  // as on a card that cannot do it
}

}  // namespace gapless::card
