// Reads a PyTorch memory snapshot (torch.cuda.memory._dump_snapshot, releases 2.0 to 2.14) from the bytes of its
// pickle. Data alone is understood: nothing the file says can run code. Time and memory stay in proportion to the
// bytes, whatever they say: besides the input, 3 bytes of memory for each byte of it and 48 MiB.
#pragma once

#include <cstdint>
#include <span>

#include "base/error.h"
#include "snapshot/input.h"
#include "trace/snapshot.h"

namespace gapless {

// Throw FormatError, with the byte and the path inside the recording, when the bytes are not a whole snapshot.
Snapshot read_snapshot(std::span<const std::uint8_t> bytes);
// `size`: of all that the source yields, or Input::kUnknown.
Snapshot read_snapshot(Source& source, std::uint64_t size);

}  // namespace gapless
