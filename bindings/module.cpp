// The extension module gapless._core: a list of the core's modules, one binding file each. No logic here.
#include <nanobind/nanobind.h>

#include "bindings.h"

NB_MODULE(_core, m) {
  m.doc() = "The C++ core of Gapless: columns of recordings, the allocator model, replay.";
  gapless::bind_allocator(m);
  gapless::bind_errors(m);
  gapless::bind_replay(m);
  gapless::bind_what_if(m);
  gapless::bind_snapshot(m);
}
