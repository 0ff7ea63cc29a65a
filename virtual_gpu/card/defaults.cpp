// What the generated default answers need (generate.py).
#include "card/export.h"
#include "card/memory.h"
#include "card/objects.h"

extern "C" {

GAPLESS_EXPORT void* gapless_default_handle() { return gapless::card::make_handle(); }
GAPLESS_EXPORT int gapless_default_number() { return static_cast<int>(gapless::card::next_id()); }

// Some outputs may be on the device: states of solvers. Those stay as they are.
GAPLESS_EXPORT int gapless_default_may_write(const void* pointer) {
  return pointer != nullptr && !gapless::card::is_device_pointer(pointer) ? 1 : 0;
}

}  // extern "C"
