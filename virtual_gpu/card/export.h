// What the stand-in libraries see of the pretend card, and Python through ctypes.
#pragma once

#define GAPLESS_EXPORT __attribute__((visibility("default")))
