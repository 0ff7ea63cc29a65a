// Note [Self-check]
//
// Rationale: a what-if answer is worth as much as the model behind it. So the model first replays the recording under
// its own settings, and every decision is compared with what the GPU really did.
//
// Approach: the model is given only what it cannot know: where the device put new segments and reservations, when the
// device refused, when another stream was done, and the order in which segments that existed before the recording were
// created (found out from the ties that it decides). Everything else - each address, size and segment event - is its
// own.
//
// Limits: where the recording places a block elsewhere the model is corrected and goes on, but is no longer exact; a
// difference in segments ends the comparison.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator/caching_allocator.h"
#include "replay/program.h"
#include "trace/trace.h"

namespace gapless {

struct Difference {
  std::size_t event = 0;
  std::string recorded;  // one line, as "alloc at 0x7f00 of 512 bytes"
  std::string replayed;
};

struct CheckOptions {
  Release release;
  AllocatorSettings settings;
  std::optional<Bytes> limit_bytes;  // of the memory fraction, if one was set
  Bytes total_bytes = 80_GiB;        // the card's size; only the length of reservations depends on it
};

struct SelfCheck {
  std::uint64_t events_checked = 0;  // alloc, free_completed and segment events of the recording
  std::uint64_t events_matching = 0;
  std::uint64_t corrections = 0;
  std::uint64_t tie_orders_learnt = 0;
  std::uint64_t retries = 0;  // requests that were served only after the cache was given back, or not at all
  std::optional<Difference> first_difference;
  // First events of mallocs that the cache would have served: what they seem to release was asked for by empty_cache().
  std::vector<std::uint32_t> asked_releases;
  std::vector<Bytes> block_bytes;           // of each allocation that the replay served; 0 for others
  std::vector<std::uint32_t> retry_events;  // the last event of each such request

  bool is_exact() const { return events_matching == events_checked && corrections == 0; }
};

SelfCheck self_check(const Trace& trace, const Program& program, const CheckOptions& options);

}  // namespace gapless
