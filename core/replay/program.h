// A Program is what the recorded process asked of its allocator, without the answers: the calls, in order. It is made
// once from a trace and run many times, under any settings.
//
// Note [Grouping events into calls]
//
// The recorder writes decisions, not calls. One malloc leaves, in this order,
//
//       free_completed*  segment_free*/segment_unmap*  segment_alloc | segment_map*  alloc | oom
//
// where all but the last are optional, and a free leaves free_requested, with free_completed next to it unless it has
// to wait for another stream. Two calls can look like one: empty_cache() followed by a malloc that needs new memory,
// and a malloc that failed at first and gave the cache back. They are told apart by what the device was able to hold at
// another time: if that is enough for the new memory as well, nothing had to fail, so the release was asked for. And
// where the cache would have served the malloc, the self-check finds out that it cannot have failed.
//
// What waits for another stream completes when a malloc begins, and where memory is to be given back. So completions
// right before a release or an oom belong to that call: a malloc that they could have served did not see them in time.
//
// A private pool gives memory back when its MemPool or graph has gone, at once or at the next full release. Neither
// leaves an event of its own, but its segments do.
#pragma once

#include <cstdint>
#include <vector>

#include "allocator/pools.h"
#include "trace/trace.h"

namespace gapless {

enum class Call : std::uint8_t {
  kMalloc,        // `allocation` is served, or kNoAllocation: the request failed (its event is the last one)
  kFree,          // completes at once
  kFreeDeferred,  // waits for another stream
  kComplete,      // what waited is done
  kEmptyCache,
  kEmptyPool,  // the end of a MemPool: what `pool` keeps free goes back
  kLetGoPool,  // `pool` is used no more: from now on a full release covers it
};

// Columns of equal length, one row a call. Its events are [event_begin, event_end), snapshot and annotate among them.
struct Program {
  std::vector<Call> call;
  std::vector<AllocationId> allocation;
  std::vector<std::uint32_t> event_begin, event_end;
  std::vector<std::uint16_t> pool;            // of kEmptyPool and kLetGoPool; the default one for others
  std::vector<std::uint16_t> no_split_pools;  // made to hand out whole blocks; not a column
  std::uint64_t skipped_events = 0;  // events that belong to no call: contradictions, and calls cut off by the end

  std::size_t count() const { return call.size(); }
};

struct GroupingOptions {
  bool releases_are_retries = false;  // do not look for empty_cache() in front of a malloc
  Bytes known_capacity = 0;           // bytes that the device could hold for this process, if known; 0: see the note
  std::vector<std::uint32_t> asked_releases;  // first events of releases known to be empty_cache(), ascending
  bool looks_for_no_split_pools = false;      // those whose allocations all stand at the start of a segment
};

Program build_program(const Trace& trace, const GroupingOptions& options);

}  // namespace gapless
