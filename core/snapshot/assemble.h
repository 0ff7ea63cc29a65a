// From the value that a pickle built to a Snapshot: finds the lists of events and segments, puts segments and their
// blocks in order of address, and holds the recording against what PyTorch guarantees of one.
#pragma once

#include "snapshot/heap.h"
#include "snapshot/rows.h"
#include "snapshot/texts.h"
#include "trace/snapshot.h"

namespace gapless {

// Takes what it needs out of `rows` and `texts`. `end` is the offset of the end of the pickle, for messages.
Snapshot assemble(Value root, Heap& heap, Texts& texts, Rows& rows, Budget& budget, std::uint64_t end);

}  // namespace gapless
