// What the stand-in libraries see of the pretend card, and Python through ctypes.
#pragma once

#define GAPLESS_EXPORT __attribute__((visibility("default")))

// In front of a function that stands in for one of NVIDIA's, and has its name and signature.
#define GAPLESS_API extern "C" GAPLESS_EXPORT
