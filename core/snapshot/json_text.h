// Settings and annotations, which differ from release to release, are handed on as JSON.
#pragma once

#include <string>

#include "snapshot/heap.h"
#include "snapshot/texts.h"

namespace gapless {

// The plain value as JSON, tuples as arrays. Throws Fault when it nests deeper than any recording does, or holds what
// JSON cannot. The text is paid for by the budget.
std::string to_json(Value value, const Heap& heap, const Texts& texts, Budget& budget);

}  // namespace gapless
