// Reads a PyTorch memory snapshot (torch.cuda.memory._dump_snapshot, releases 2.0 to 2.14) from the bytes of its
// pickle. Data alone is understood: nothing the file says can run code. Time and memory stay in proportion to the
// bytes, whatever they say.
#pragma once

#include <cstdint>
#include <span>

#include "base/error.h"
#include "trace/snapshot.h"

namespace gapless {

// Throws FormatError, with the byte and the path inside the recording, when the bytes are not a whole snapshot.
Snapshot read_snapshot(std::span<const std::uint8_t> bytes);

// What reading `bytes` of input may take besides the input itself.
constexpr Bytes reading_memory_max(Bytes bytes) { return 3 * bytes + 48_MiB; }

}  // namespace gapless
