// What functions of CUDA return. The driver and the runtime give the same number to the same error.
#pragma once

#include "card/export.h"

namespace gapless::card {

enum Result : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kMissingConfiguration = 52,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kNotFound = 500,
  kNotReady = 600,
  kNotSupported = 801,
};

// By the names that each of them has for it, and the text that ends up in PyTorch's messages.
struct ResultText {
  int number;
  const char* driver_name;
  const char* runtime_name;
  const char* text;
};
GAPLESS_EXPORT const ResultText& text_of(int result);

}  // namespace gapless::card
