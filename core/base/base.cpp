// base/ is headers only; this file gives the library a source and compiles each header once on its own.
#include "base/check.h"
#include "base/error.h"
#include "base/units.h"
