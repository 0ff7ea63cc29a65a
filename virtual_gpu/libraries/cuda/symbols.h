// The driver's functions by name, in the newest form that is here: "cuMemAlloc" gives cuMemAlloc_v2.
#pragma once

#include "card/export.h"

extern "C" GAPLESS_EXPORT void* gapless_driver_symbol(const char* name);
