// What each binding file adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace gapless {

void bind_allocator(nanobind::module_& m);
void bind_replay(nanobind::module_& m);
void bind_what_if(nanobind::module_& m);
void bind_errors(nanobind::module_& m);
void bind_snapshot(nanobind::module_& m);

}  // namespace gapless
