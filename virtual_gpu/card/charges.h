// Memory that NVIDIA's libraries take beside PyTorch: so much for each handle or communicator, as the settings say.
//
// It is taken as they take it, from the card, and refused as a tensor would be. What nobody has measured is 0.
#pragma once

#include "card/export.h"
#include "card/settings.h"

namespace gapless::card {

enum class Library { kNccl, kCudnn, kCublas };
constexpr int kLibraries = 3;

// How often a library took its share on one card so far, and the most bytes that it held. Read by Python: keep in step
// with virtual/control.py.
struct Charge {
  std::uint64_t count, bytes_peak, bytes;
};

// What one handle holds; null where the library takes nothing.
struct Held {
  void* memory = nullptr;
};

// False where the card has not so much left.
GAPLESS_EXPORT bool take(Library library, Held* held);
GAPLESS_EXPORT void give_back(Library library, Held* held);
GAPLESS_EXPORT Charge charge_of(int device, Library library);

}  // namespace gapless::card
