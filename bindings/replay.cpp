// Traces, programs, the self-check and replays under other settings, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>

#include "bindings.h"
#include "columns.h"
#include "replay/program.h"
#include "replay/self_check.h"
#include "replay/what_if.h"
#include "trace/trace.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace gapless {
namespace {

Trace make_trace(std::shared_ptr<const Snapshot> snapshot, std::size_t device_row, const AllocatorSettings& settings,
                 int major, int minor) {
  if (device_row >= snapshot->devices.size()) throw nb::index_error("no such device");
  const nb::gil_scoped_release unlocked;
  const ReleaseRules rules = ReleaseRules::of({major, minor});
  return build_trace(std::move(snapshot), device_row, [&](Bytes requested) {
    return requested == 0 || requested >= kMaxRequest ? requested : block_size(requested, settings, rules);
  });
}

DeviceState make_state_before(const Trace& trace, std::size_t event) {
  if (event > trace.event_count()) throw nb::index_error("no such event");
  const nb::gil_scoped_release unlocked;
  return state_before(trace, event);
}

std::vector<std::pair<std::size_t, std::string>> contradictions(const Trace& trace) {
  std::vector<std::pair<std::size_t, std::string>> out;
  for (const Contradiction& c : trace.contradictions) out.emplace_back(c.event, c.message);
  return out;
}

void bind_allocations(nb::module_& m) {
  nb::class_<Allocations> cls(m, "Allocations",
                              "Columns, one row an allocation: those alive at the start, then one an alloc event.");
  def_column<std::int64_t>(cls, "alloc_event", &Allocations::alloc_event,
                           "def alloc_event(self) -> numpy.typing.NDArray[numpy.int64]", "-1: alive at the start.");
  def_column<std::uint32_t>(cls, "free_requested_event", &Allocations::free_requested_event,
                            "def free_requested_event(self) -> numpy.typing.NDArray[numpy.uint32]",
                            "NEVER when it was not freed.");
  def_column<std::uint32_t>(cls, "free_completed_event", &Allocations::free_completed_event,
                            "def free_completed_event(self) -> numpy.typing.NDArray[numpy.uint32]",
                            "NEVER when it did not complete.");
  def_column<std::uint64_t>(cls, "address", &Allocations::address,
                            "def address(self) -> numpy.typing.NDArray[numpy.uint64]", "As recorded.");
  def_column<std::uint64_t>(cls, "requested", &Allocations::requested,
                            "def requested(self) -> numpy.typing.NDArray[numpy.uint64]", "Bytes asked for.");
  def_column<std::uint64_t>(cls, "size", &Allocations::size, "def size(self) -> numpy.typing.NDArray[numpy.uint64]",
                            "Bytes of its block.");
  def_column<std::uint8_t>(cls, "assumed", &Allocations::assumed,
                           "def assumed(self) -> numpy.typing.NDArray[numpy.uint8]",
                           "1 where the block's size is the least that it can be.");
  def_column<std::uint32_t>(cls, "stack", &Allocations::stack, "def stack(self) -> numpy.typing.NDArray[numpy.uint32]",
                            "Of its allocation; NO_STACK when not recorded.");
  def_column<std::uint16_t>(cls, "stream", &Allocations::stream,
                            "def stream(self) -> numpy.typing.NDArray[numpy.uint16]", "Index into Snapshot.streams.");
  def_column<std::uint16_t>(cls, "pool", &Allocations::pool, "def pool(self) -> numpy.typing.NDArray[numpy.uint16]",
                            "Index into Snapshot.pools.");
  cls.def("__len__", &Allocations::count);
}

void bind_trace(nb::module_& m) {
  m.attr("NEVER") = kNever;
  m.attr("NO_ALLOCATION") = kNoAllocation;
  bind_allocations(m);
  nb::class_<Trace> cls(m, "Trace", "One device's recording with an identity for every allocation.");
  cls.def_ro("allocations", &Trace::allocations)
      .def_ro("start", &Trace::start, "Segments and blocks before the first event.")
      .def_prop_ro("is_complete", &Trace::is_complete, "Nothing existed before the first event.")
      .def_prop_ro("contradictions", &contradictions, "(event, what is wrong) of the first hundred.")
      .def_ro("contradiction_count", &Trace::contradiction_count)
      .def("__len__", &Trace::event_count);
  def_column<std::uint32_t>(cls, "allocation_of_event", &Trace::allocation_of_event,
                            "def allocation_of_event(self) -> numpy.typing.NDArray[numpy.uint32]",
                            "Of alloc and free events; NO_ALLOCATION for others.");
  def_column<std::uint16_t>(cls, "pool_of_event", &Trace::pool_of_event,
                            "def pool_of_event(self) -> numpy.typing.NDArray[numpy.uint16]",
                            "Index into Snapshot.pools, as far as known, else the default pool's.");
  def_column<std::uint32_t>(cls, "allocation_of_start_block", &Trace::allocation_of_start_block,
                            "def allocation_of_start_block(self) -> numpy.typing.NDArray[numpy.uint32]",
                            "Of the blocks of `start`; NO_ALLOCATION for free ones.");
  m.def("build_trace", &make_trace, "snapshot"_a, "device_row"_a, "settings"_a, "major"_a, "minor"_a,
        "Finds the state at the start of a device's recording and numbers its allocations.");
  m.def("state_before", &make_state_before, "trace"_a, "event"_a, "Segments and blocks before an event, as recorded.");
}

void bind_program(nb::module_& m) {
  m.attr("CALLS") =
      nb::make_tuple("malloc", "free", "free_deferred", "complete", "empty_cache", "empty_pool", "let_go_pool");
  nb::class_<Program> cls(m, "Program", "The calls of a recorded process, one row a call.");
  def_column<std::uint8_t>(cls, "call", &Program::call, "def call(self) -> numpy.typing.NDArray[numpy.uint8]",
                           "Index into CALLS.");
  def_column<std::uint32_t>(cls, "allocation", &Program::allocation,
                            "def allocation(self) -> numpy.typing.NDArray[numpy.uint32]",
                            "NO_ALLOCATION for a request that failed and for what is no malloc or free.");
  def_column<std::uint32_t>(cls, "event_begin", &Program::event_begin,
                            "def event_begin(self) -> numpy.typing.NDArray[numpy.uint32]", "First event of the call.");
  def_column<std::uint32_t>(cls, "event_end", &Program::event_end,
                            "def event_end(self) -> numpy.typing.NDArray[numpy.uint32]", "One past its last event.");
  cls.def_ro("no_split_pools", &Program::no_split_pools, "Index into Snapshot.pools: they hand out whole blocks.");
  cls.def_ro("skipped_events", &Program::skipped_events).def("__len__", &Program::count);
  m.def(
      "build_program",
      [](const Trace& trace, bool releases_are_retries, Bytes known_capacity, std::vector<std::uint32_t> asked,
         bool looks_for_no_split_pools) {
        const nb::gil_scoped_release unlocked;
        return build_program(trace, {releases_are_retries, known_capacity, std::move(asked), looks_for_no_split_pools});
      },
      "trace"_a, "releases_are_retries"_a = false, "known_capacity"_a = 0,
      "asked_releases"_a = std::vector<std::uint32_t>{}, "looks_for_no_split_pools"_a = false,
      "Groups the events into calls.");
}

void bind_self_check(nb::module_& m) {
  nb::class_<Difference>(m, "Difference", "Where the replay first differs from the recording.")
      .def_ro("event", &Difference::event)
      .def_ro("recorded", &Difference::recorded)
      .def_ro("replayed", &Difference::replayed);
  nb::class_<SelfCheck> cls(m, "SelfCheck", "How exactly the model replays a recording under its own settings.");
  cls.def_ro("events_checked", &SelfCheck::events_checked)
      .def_ro("events_matching", &SelfCheck::events_matching)
      .def_ro("corrections", &SelfCheck::corrections)
      .def_ro("tie_orders_learnt", &SelfCheck::tie_orders_learnt)
      .def_ro("retries", &SelfCheck::retries)
      .def_ro("first_difference", &SelfCheck::first_difference)
      .def_prop_ro("exact", &SelfCheck::is_exact);
  def_column<std::uint64_t>(cls, "block_bytes", &SelfCheck::block_bytes,
                            "def block_bytes(self) -> numpy.typing.NDArray[numpy.uint64]",
                            "Of each allocation the replay served; 0 for others.");
  cls.def_ro("asked_releases", &SelfCheck::asked_releases, "Releases found to be empty_cache(), by first event.");
  def_column<std::uint32_t>(cls, "retry_events", &SelfCheck::retry_events,
                            "def retry_events(self) -> numpy.typing.NDArray[numpy.uint32]",
                            "Last event of each request that needed the cache given back.");
  m.def(
      "self_check",
      [](const Trace& trace, const Program& program, int major, int minor, const AllocatorSettings& settings,
         std::optional<Bytes> limit_bytes, Bytes total_bytes) {
        const nb::gil_scoped_release unlocked;
        return self_check(trace, program, {{major, minor}, settings, limit_bytes, total_bytes});
      },
      "trace"_a, "program"_a, "major"_a, "minor"_a, "settings"_a, "limit_bytes"_a = nb::none(),
      "total_bytes"_a = 80_GiB);
  m.def(
      "learn_block_sizes",
      [](Trace& trace, const SelfCheck& check) { learn_block_sizes(trace.allocations, check.block_bytes); }, "trace"_a,
      "check"_a, "Takes over the sizes of blocks that an exact self-check found.");
}

}  // namespace

void bind_replay(nb::module_& m) {
  bind_trace(m);
  bind_program(m);
  bind_self_check(m);
}

}  // namespace gapless
