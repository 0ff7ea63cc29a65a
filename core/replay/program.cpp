#include "replay/program.h"

#include <algorithm>

namespace gapless {
namespace {

bool is_release(Action action) { return action == Action::kSegmentFree || action == Action::kSegmentUnmap; }
bool is_growth(Action action) { return action == Action::kSegmentAlloc || action == Action::kSegmentMap; }
bool is_remark(Action action) { return action == Action::kSnapshot || action == Action::kAnnotate; }

class Grouping {
 public:
  Grouping(const Trace& trace, const GroupingOptions& options)
      : trace_(trace), events_(trace.events()), options_(options), capacity_(options.known_capacity) {
    if (capacity_ == 0) capacity_ = largest_reserved();
    reserved_ = start_bytes();
  }

  Program run() {
    std::size_t event = 0;
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

  void add(Call call, AllocationId allocation, std::size_t begin, std::size_t end) {
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

  // A run of segment events, with completions among them, and the malloc that may end it.
  std::size_t segment_run(std::size_t begin) {
    std::size_t end = begin;
    std::size_t last_release = begin;  // one past it
    Bytes released = 0;
    Bytes grown = 0;
    Bytes grown_before_release = 0;
    for (; end < events_.count(); ++end) {
      const Action action = events_.action[end];
      if (is_release(action)) {
        last_release = end + 1;
        released += events_.size[end];
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
    if (ends_in_malloc && (grown > 0 || failed)) {
      const auto& asked = options_.asked_releases;
      if (std::binary_search(asked.begin(), asked.end(), static_cast<std::uint32_t>(begin))) {
        return split_off_release(begin, last_release);
      }
      const bool was_asked_for = released > 0 && !failed && grown_before_release == 0 &&
                                 !options_.releases_are_retries && reserved_ + grown <= capacity_;
      if (was_asked_for) return split_off_release(begin, last_release);
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

  std::size_t split_off_release(std::size_t begin, std::size_t last_release) {
    add(Call::kEmptyCache, kNoAllocation, begin, last_release);
    return last_release;
  }

  const Trace& trace_;
  const Events& events_;
  const GroupingOptions& options_;
  Bytes capacity_;
  Bytes reserved_ = 0;
  Program program_;
};

}  // namespace

Program build_program(const Trace& trace, const GroupingOptions& options) { return Grouping(trace, options).run(); }

}  // namespace gapless
