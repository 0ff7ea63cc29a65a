#include "replay/program.h"

#include <algorithm>
#include <unordered_set>

namespace gapless {
namespace {

bool is_release(Action action) { return action == Action::kSegmentFree || action == Action::kSegmentUnmap; }
bool is_growth(Action action) { return action == Action::kSegmentAlloc || action == Action::kSegmentMap; }
bool is_remark(Action action) { return action == Action::kSnapshot || action == Action::kAnnotate; }

// Private pools that were used, and never for two blocks of one segment.
std::vector<std::uint16_t> pools_of_whole_segments(const Trace& trace) {
  std::vector<bool> is_used(trace.snapshot->pools.size(), false);
  std::vector<bool> splits(trace.snapshot->pools.size(), false);
  std::unordered_set<Address> segments;
  for (const Segment& segment : trace.start.segments) {
    segments.insert(segment.address);
    if (segment.block_count > 1) splits[segment.pool] = true;
  }
  const Events& events = trace.events();
  for (std::size_t i = 0; i < events.count(); ++i) {
    const std::uint16_t pool = trace.pool_of_event[i];
    if (events.action[i] == Action::kSegmentAlloc) segments.insert(events.address[i]);
    if (events.action[i] == Action::kSegmentMap) splits[pool] = true;
    if (events.action[i] != Action::kAlloc) continue;
    is_used[pool] = true;
    if (!segments.contains(events.address[i])) splits[pool] = true;
  }
  std::vector<std::uint16_t> found;
  for (std::uint16_t pool = kDefaultOwner + 1; pool < is_used.size(); ++pool) {
    if (is_used[pool] && !splits[pool]) found.push_back(pool);
  }
  return found;
}

class Grouping {
 public:
  Grouping(const Trace& trace, const GroupingOptions& options)
      : trace_(trace), events_(trace.events()), options_(options), capacity_(options.known_capacity) {
    if (capacity_ == 0) capacity_ = largest_reserved();
    reserved_ = start_bytes();
  }

  Program run() {
    std::size_t event = 0;
    if (options_.looks_for_no_split_pools) program_.no_split_pools = pools_of_whole_segments(trace_);
    while (event < events_.count()) event = next_call(event);
    return std::move(program_);
  }

 private:
  Bytes start_bytes() const {
    Bytes bytes = 0;
    for (const Segment& segment : trace_.start.segments) bytes += segment.size;
    return bytes;
  }

  Bytes largest_reserved() const {
    Bytes reserved = start_bytes();
    Bytes largest = reserved;
    for (std::size_t i = 0; i < events_.count(); ++i) {
      if (is_growth(events_.action[i])) reserved += events_.size[i];
      if (is_release(events_.action[i])) reserved -= std::min(reserved, events_.size[i]);
      largest = std::max(largest, reserved);
    }
    return largest;
  }

  void add(Call call, AllocationId allocation, std::size_t begin, std::size_t end, std::uint16_t pool = kDefaultOwner) {
    program_.pool.push_back(pool);
    program_.call.push_back(call);
    program_.allocation.push_back(allocation);
    program_.event_begin.push_back(static_cast<std::uint32_t>(begin));
    program_.event_end.push_back(static_cast<std::uint32_t>(end));
    for (std::size_t i = begin; i < end; ++i) {
      if (is_growth(events_.action[i])) reserved_ += events_.size[i];
      if (is_release(events_.action[i])) reserved_ -= std::min(reserved_, events_.size[i]);
    }
  }

  std::size_t skip(std::size_t event) {
    if (!is_remark(events_.action[event])) ++program_.skipped_events;
    return event + 1;
  }

  // Adds the call that begins at `event`; returns where the next one begins.
  std::size_t next_call(std::size_t event) {
    const AllocationId allocation = trace_.allocation_of_event[event];
    switch (events_.action[event]) {
      case Action::kAlloc:
        add(Call::kMalloc, allocation, event, event + 1);
        return event + 1;
      case Action::kOom:
        add(Call::kMalloc, kNoAllocation, event, event + 1);
        return event + 1;
      case Action::kFreeCompleted:
        if (allocation == kNoAllocation) return skip(event);
        if (leads_to_release(event)) return segment_run(event);
        add(Call::kComplete, allocation, event, event + 1);
        return event + 1;
      case Action::kFreeRequested: {
        if (allocation == kNoAllocation) return skip(event);
        const bool at_once = trace_.allocations.free_completed_event[allocation] == event + 1;
        add(at_once ? Call::kFree : Call::kFreeDeferred, allocation, event, event + (at_once ? 2 : 1));
        return event + (at_once ? 2 : 1);
      }
      case Action::kSnapshot:
      case Action::kAnnotate:
        return skip(event);
      default:
        return segment_run(event);
    }
  }

  // Whether the completions from `event` on come right before a release or an oom.
  bool leads_to_release(std::size_t event) {
    if (event < completions_end_) return false;  // looked at before: they do not
    const auto is_part = [](Action action) { return action == Action::kFreeCompleted || is_remark(action); };
    while (event < events_.count() && is_part(events_.action[event])) ++event;
    completions_end_ = event;
    return event < events_.count() && (events_.action[event] == Action::kOom || is_release(events_.action[event]));
  }

  // A run of segment events, with completions among them, and the malloc that may end it.
  std::size_t segment_run(std::size_t begin) {
    std::size_t end = begin;
    std::size_t last_release = begin;  // one past it
    bool has_unmapped = false;
    Bytes released = 0;
    Bytes grown = 0;
    Bytes grown_before_release = 0;
    for (; end < events_.count(); ++end) {
      const Action action = events_.action[end];
      if (is_release(action)) {
        last_release = end + 1;
        released += events_.size[end];
        has_unmapped |= action == Action::kSegmentUnmap;
        grown_before_release = grown;
      } else if (is_growth(action)) {
        grown += events_.size[end];
      } else if (action != Action::kFreeCompleted && !is_remark(action)) {
        break;
      }
    }
    const bool ends_in_malloc =
        end < events_.count() && (events_.action[end] == Action::kAlloc || events_.action[end] == Action::kOom);
    const bool failed = ends_in_malloc && events_.action[end] == Action::kOom;
    // Pages that stayed mapped may serve a malloc after it gave others back.
    const bool needs_no_more = options_.releases_are_retries && has_unmapped;
    if (ends_in_malloc && (grown > 0 || failed || needs_no_more)) {
      const auto& asked = options_.asked_releases;
      if (released > 0 && std::binary_search(asked.begin(), asked.end(), static_cast<std::uint32_t>(begin))) {
        return split_off_release(begin, last_release);
      }
      const bool was_asked_for = released > 0 && !failed && grown_before_release == 0 &&
                                 !options_.releases_are_retries && reserved_ + grown <= capacity_;
      if (was_asked_for) return split_off_release(begin, last_release);
      if (const std::size_t gone = end_of_closed_pools(begin, end); gone > begin) {
        return split_off_release(begin, gone);
      }
      let_go_of_pools(begin, end, trace_.pool_of_event[end]);
      add(Call::kMalloc, trace_.allocation_of_event[end], begin, end + 1);
      return end + 1;
    }
    if (released > 0) return split_off_release(begin, last_release);
    for (std::size_t event = begin; event < end; ++event) {  // memory that nobody asked for: cut off by the end
      const bool completes = events_.action[event] == Action::kFreeCompleted;
      completes ? next_call(event) : skip(event);
    }
    return end;
  }

  // Closed pools, one by one, up to the first sign of a full release: that one waits for all streams and takes the
  // default pools first, then every private pool that is used no more.
  std::size_t split_off_release(std::size_t begin, std::size_t last_release) {
    std::size_t event = begin;
    while (event < last_release) {
      const std::uint16_t pool = next_released_pool(event);
      if (pool == kDefaultOwner || waits_for_others(event, pool)) {
        let_go_of_pools(event, last_release, kDefaultOwner);
        add(Call::kEmptyCache, kNoAllocation, event, last_release);
        return last_release;
      }
      std::size_t end = event;
      for (std::size_t i = event; i < last_release; ++i) {
        if (!is_release(events_.action[i])) continue;
        if (trace_.pool_of_event[i] != pool) break;
        end = i + 1;
      }
      add(Call::kEmptyPool, kNoAllocation, event, end, pool);
      event = end;
    }
    return last_release;
  }

  // The end of a pool waits for its own blocks alone.
  bool waits_for_others(std::size_t event, std::uint16_t pool) const {
    for (; !is_release(events_.action[event]); ++event) {
      if (events_.action[event] == Action::kFreeCompleted && trace_.pool_of_event[event] != pool) return true;
    }
    return false;
  }

  std::uint16_t next_released_pool(std::size_t event) const {
    while (!is_release(events_.action[event])) ++event;
    return trace_.pool_of_event[event];
  }

  // One past the releases of other private pools that a malloc's run begins with: they come last in a full release, so
  // there was none, unless other blocks were waited for.
  std::size_t end_of_closed_pools(std::size_t begin, std::size_t end) const {
    std::size_t gone = begin;
    for (std::size_t event = begin; event < end && !is_growth(events_.action[event]); ++event) {
      if (!is_release(events_.action[event])) continue;
      const std::uint16_t pool = trace_.pool_of_event[event];
      if (pool == kDefaultOwner || pool == trace_.pool_of_event[end] || waits_for_others(gone, pool)) break;
      gone = event + 1;
    }
    return gone;
  }

  // A failing malloc gives back its own pool, the default ones and those that are used no more.
  void let_go_of_pools(std::size_t begin, std::size_t end, std::uint16_t of_request) {
    std::uint16_t last = kDefaultOwner;
    for (std::size_t event = begin; event < end; ++event) {
      const std::uint16_t pool = trace_.pool_of_event[event];
      if (!is_release(events_.action[event]) || pool == last || pool == kDefaultOwner || pool == of_request) continue;
      add(Call::kLetGoPool, kNoAllocation, begin, begin, pool);
      last = pool;
    }
  }

  const Trace& trace_;
  const Events& events_;
  const GroupingOptions& options_;
  Bytes capacity_;
  Bytes reserved_ = 0;
  std::size_t completions_end_ = 0;  // of the last run of completions that was looked through
  Program program_;
};

}  // namespace

Program build_program(const Trace& trace, const GroupingOptions& options) { return Grouping(trace, options).run(); }

}  // namespace gapless
