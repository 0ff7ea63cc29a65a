// What was called of which nothing is known: functions with a default answer, and kernels by the library they came
// from.
#pragma once

#include <cstdint>
#include <string>

#include "card/export.h"

namespace gapless::card {

// A function that has no body of its own in these libraries, the first time that it is called.
extern "C" GAPLESS_EXPORT void gapless_default_answer(const char* library, const char* function);

// Kernels come in fat binaries; the address of one tells which shared library it is part of.
struct KernelBinary {
  std::uint64_t launches = 0;
  std::string library;
};
GAPLESS_EXPORT KernelBinary* register_binary(const void* data);
GAPLESS_EXPORT void register_kernel(KernelBinary* binary, const void* host_function);
GAPLESS_EXPORT void launch(const void* host_function);

// One line for each: "default LIBRARY FUNCTION", "kernels LIBRARY LAUNCHES".
std::string list_calls();

}  // namespace gapless::card
