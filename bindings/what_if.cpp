// Replays under other settings, cards and edits, for Python.
#include "replay/what_if.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

#include "bindings.h"
#include "columns.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace gapless {
namespace {

void bind_options(nb::module_& m) {
  nb::class_<WhatIfOptions>(m, "WhatIfOptions", "Under what a program is run; sizes in bytes.")
      .def(
          "__init__",
          [](WhatIfOptions* self, int major, int minor, const AllocatorSettings& settings, Bytes capacity_bytes) {
            new (self) WhatIfOptions{};
            self->release = {major, minor};
            self->settings = settings;
            self->capacity_bytes = capacity_bytes;
          },
          "major"_a, "minor"_a, "settings"_a, "capacity_bytes"_a)
      .def_rw("settings", &WhatIfOptions::settings)
      .def_rw("capacity_bytes", &WhatIfOptions::capacity_bytes, "What PyTorch may reserve on the card.")
      .def_rw("total_bytes", &WhatIfOptions::total_bytes, "What the card reports; 0: as capacity_bytes.")
      .def_rw("limit_bytes", &WhatIfOptions::limit_bytes, "Of a memory fraction, or None.")
      .def_prop_rw(
          "descending_addresses", [](const WhatIfOptions& o) { return o.addresses == AddressOrder::kDescending; },
          [](WhatIfOptions& o, bool on) { o.addresses = on ? AddressOrder::kDescending : AddressOrder::kAscending; })
      .def_prop_rw(
          "start_as_recorded", [](const WhatIfOptions& o) { return o.start == StartMode::kAsRecorded; },
          [](WhatIfOptions& o, bool on) { o.start = on ? StartMode::kAsRecorded : StartMode::kAnew; })
      .def_rw("stops_at_failure", &WhatIfOptions::stops_at_failure)
      .def_rw("state_before_event", &WhatIfOptions::state_before_event, "Keep the state before it; NEVER: do not.")
      .def_rw("keeps_state_at_failure", &WhatIfOptions::keeps_state_at_failure)
      .def_rw("keeps_timeline", &WhatIfOptions::keeps_timeline)
      .def_prop_rw(
          "failed_request_factor", [](const WhatIfOptions& o) { return o.failed_request_factor; },
          [](WhatIfOptions& o, double factor) {
            if (!(factor > 0 && factor <= 1e6)) throw nb::value_error("failed_request_factor must be over 0");
            o.failed_request_factor = factor;
          },
          "Of the size of requests that failed in the recording.")
      .def_rw("switch_before_event", &WhatIfOptions::switch_before_event, "Use switched_settings from it on.")
      .def_rw("switched_settings", &WhatIfOptions::switched_settings);
}

void bind_failure(nb::module_& m) {
  nb::class_<Failure>(m, "Failure", "The state at a failing request; sizes in bytes.")
      .def_ro("event", &Failure::event)
      .def_ro("requested_bytes", &Failure::requested_bytes)
      .def_ro("rounded_bytes", &Failure::rounded_bytes)
      .def_ro("segment_bytes", &Failure::segment_bytes)
      .def_ro("allocated_bytes", &Failure::allocated_bytes)
      .def_ro("active_bytes", &Failure::active_bytes)
      .def_ro("reserved_bytes", &Failure::reserved_bytes)
      .def_ro("largest_free_block_bytes", &Failure::largest_free_block_bytes, "That the request could have used.")
      .def_ro("device_free_bytes", &Failure::device_free_bytes)
      .def_ro("was_recorded", &Failure::was_recorded);
}

// name and name_event: the largest value and the event at which it was first reached.
void def_peak(nb::class_<ReplayResult>& cls, const char* name, const char* event_name, Peak ReplayResult::* peak) {
  cls.def_prop_ro(name, [peak](const ReplayResult& r) { return (r.*peak).bytes; });
  cls.def_prop_ro(event_name, [peak](const ReplayResult& r) { return (r.*peak).event; });
}

void bind_result(nb::module_& m) {
  nb::class_<ReplayResult> cls(m, "ReplayResult", "What a program takes under given settings.");
  def_peak(cls, "allocated_bytes_peak", "allocated_bytes_peak_event", &ReplayResult::allocated);
  def_peak(cls, "active_bytes_peak", "active_bytes_peak_event", &ReplayResult::active);
  def_peak(cls, "reserved_bytes_peak", "reserved_bytes_peak_event", &ReplayResult::reserved);
  def_peak(cls, "requested_bytes_peak", "requested_bytes_peak_event", &ReplayResult::requested);
  cls.def_ro("failures", &ReplayResult::failures)
      .def_ro("served_failures", &ReplayResult::served_failures, "Events that failed in the recording and not here.")
      .def_ro("retry_events", &ReplayResult::retry_events)
      .def_prop_ro("device_alloc_calls", [](const ReplayResult& r) { return r.device_calls.alloc; })
      .def_prop_ro("device_free_calls", [](const ReplayResult& r) { return r.device_calls.free; })
      .def_prop_ro("device_map_calls", [](const ReplayResult& r) { return r.device_calls.map; })
      .def_prop_ro("device_unmap_calls", [](const ReplayResult& r) { return r.device_calls.unmap; })
      .def_ro("reached_event", &ReplayResult::reached_event, "One past the last event replayed.")
      .def_ro("allocations_not_placed", &ReplayResult::allocations_not_placed)
      .def_ro("undefined", &ReplayResult::undefined, "PyTorch would have gone on with memory that is not its own.")
      .def_ro("reserved_bytes_end", &ReplayResult::reserved_bytes_end)
      .def_ro("hash", &ReplayResult::hash, "Of every placement; equal runs have equal hashes.")
      .def_ro("state", &ReplayResult::state);
  def_column<std::uint32_t>(cls, "allocation_of_block", &ReplayResult::allocation_of_block,
                            "def allocation_of_block(self) -> numpy.typing.NDArray[numpy.uint32]",
                            "Of the blocks of `state`.");
  def_column<std::uint32_t>(cls, "timeline_event", &ReplayResult::timeline_event,
                            "def timeline_event(self) -> numpy.typing.NDArray[numpy.uint32]", "Where bytes changed.");
  def_column<std::uint64_t>(cls, "timeline_allocated", &ReplayResult::timeline_allocated,
                            "def timeline_allocated(self) -> numpy.typing.NDArray[numpy.uint64]", "Bytes after it.");
  def_column<std::uint64_t>(cls, "timeline_reserved", &ReplayResult::timeline_reserved,
                            "def timeline_reserved(self) -> numpy.typing.NDArray[numpy.uint64]", "Bytes after it.");
}

void check_length(std::size_t length, const char* name, const Trace& trace) {
  if (length != 0 && length != trace.allocations.count()) {
    throw nb::value_error((std::string(name) + " needs one entry an allocation").c_str());
  }
}

}  // namespace

void bind_what_if(nb::module_& m) {
  bind_options(m);
  bind_failure(m);
  bind_result(m);
  m.def(
      "what_if",
      [](const Trace& trace, const Program& program, const WhatIfOptions& options, std::vector<Bytes> requested,
         std::vector<std::uint32_t> free_before_event) {
        check_length(requested.size(), "requested", trace);
        check_length(free_before_event.size(), "free_before_event", trace);
        const nb::gil_scoped_release unlocked;
        return what_if(trace, program, options, {std::move(requested), std::move(free_before_event)});
      },
      "trace"_a, "program"_a, "options"_a, "requested"_a = std::vector<Bytes>{},
      "free_before_event"_a = std::vector<std::uint32_t>{},
      "Runs the program; `requested` and `free_before_event` edit it by allocation.");
}

}  // namespace gapless
