// gapless._core.Allocator: the allocator over a simulated device, one call at a time. For tests and for people who want
// to try a sequence by hand; recordings go through replay.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <vector>

#include "allocator/caching_allocator.h"
#include "bindings.h"
#include "device/simulated.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace gapless {
namespace {

constexpr const char* kActionNames[kActionCount] = {"alloc",        "free_requested", "free_completed", "segment_alloc",
                                                    "segment_free", "segment_map",    "segment_unmap",  "oom",
                                                    "snapshot",     "annotate"};

// Owns the device below the allocator and the log above it.
struct AllocatorOnCard {
  AllocatorOnCard(const AllocatorOnCard&) = delete;
  AllocatorOnCard(int major, int minor, Bytes capacity) : device(capacity), allocator(Release{major, minor}, device) {
    allocator.set_log(&log);
  }
  SimulatedDevice device;
  CachingAllocator allocator;
  std::vector<Decision> log;
};

nb::list take_events(AllocatorOnCard& self) {
  nb::list events;
  for (const Decision& d : self.log) {
    events.append(nb::make_tuple(kActionNames[static_cast<int>(d.action)], d.address, d.size, d.stream,
                                 self.allocator.owners()[d.owner].id.second));
  }
  self.log.clear();
  return events;
}

// (address, size, requested, state) of each mapped block; state A allocated, P pending, - free.
nb::list snapshot(const AllocatorOnCard& self) {
  nb::list blocks;
  for (const BlockIndex index : self.allocator.mapped_blocks()) {
    const BlockRow& row = self.allocator.block(index);
    const char* state = row.allocated ? "A" : row.is_pending() ? "P" : "-";
    blocks.append(nb::make_tuple(row.address, row.size, row.requested, state, self.allocator.stream_of(index),
                                 self.allocator.owners()[self.allocator.owner_of(index)].id.second,
                                 self.allocator.is_small(index), row.is_expandable(),
                                 row.prev == kNoBlock || !self.allocator.block(row.prev).mapped));
  }
  return blocks;
}

nb::tuple as_tuple(const Stat& stat) { return nb::make_tuple(stat.current, stat.peak, stat.allocated, stat.freed()); }

// Name -> ((current, peak, allocated, freed) of all, small, large), as in torch.cuda.memory_stats; by pool id for
// reserved_bytes_by_private_pools.
nb::dict statistics(const AllocatorOnCard& self) {
  const Statistics& s = self.allocator.statistics();
  nb::dict out;
  const auto add = [&out](const char* name, const PoolStat& stat) {
    out[name] = nb::make_tuple(as_tuple(stat.all()), as_tuple(stat.of_pool(true)), as_tuple(stat.of_pool(false)));
  };
  add("allocation", s.allocation);
  add("segment", s.segment);
  add("active", s.active);
  add("inactive_split", s.inactive_split);
  add("allocated_bytes", s.allocated_bytes);
  add("reserved_bytes", s.reserved_bytes);
  add("active_bytes", s.active_bytes);
  add("inactive_split_bytes", s.inactive_split_bytes);
  add("requested_bytes", s.requested_bytes);
  out["oversize_allocations"] = as_tuple(s.oversize_allocations);
  out["oversize_segments"] = as_tuple(s.oversize_segments);
  out["num_alloc_retries"] = s.num_alloc_retries;
  out["num_ooms"] = s.num_ooms;
  out["num_oom_rejections"] = s.num_oom_rejections;
  out["num_sync_all_streams"] = s.num_sync_all_streams;
  out["num_device_alloc"] = s.num_device_alloc;
  out["num_device_free"] = s.num_device_free;
  nb::dict pools;
  for (const PoolOwner& pool : self.allocator.owners()) {
    const PoolStat& stat = pool.reserved_bytes;
    if (stat.all().allocated == 0) continue;
    pools[nb::make_tuple(pool.id.first, pool.id.second)] =
        nb::make_tuple(as_tuple(stat.all()), as_tuple(stat.of_pool(true)), as_tuple(stat.of_pool(false)));
  }
  out["reserved_bytes_by_private_pools"] = pools;
  return out;
}

std::int64_t malloc(AllocatorOnCard& self, Bytes bytes, StreamIndex stream) {
  const Placement placed = self.allocator.malloc(bytes, stream);
  return placed.outcome == Outcome::kServed ? static_cast<std::int64_t>(placed.block)
                                            : -static_cast<std::int64_t>(placed.outcome);
}

void bind_settings(nb::module_& m) {
  nb::class_<AllocatorSettings>(m, "AllocatorSettings", "What the allocator's decisions depend on; sizes in bytes.")
      .def(nb::init<>())
      .def_rw("max_split_size", &AllocatorSettings::max_split_size)
      .def_rw("max_non_split_rounding", &AllocatorSettings::max_non_split_rounding)
      .def_rw("large_segment_size", &AllocatorSettings::large_segment_size)
      .def_rw("roundup_power2_divisions", &AllocatorSettings::roundup_power2_divisions)
      .def_rw("garbage_collection_threshold", &AllocatorSettings::garbage_collection_threshold)
      .def_rw("per_process_memory_fraction", &AllocatorSettings::per_process_memory_fraction)
      .def_rw("expandable_segments", &AllocatorSettings::expandable_segments)
      .def_rw("throw_on_cudamalloc_oom", &AllocatorSettings::throw_on_cudamalloc_oom);
  m.def(
      "release_rules",
      [](int major, int minor) {
        const ReleaseRules r = ReleaseRules::of({major, minor});
        return nb::make_tuple(static_cast<int>(r.tie_break), static_cast<int>(r.overflow_pools),
                              r.captured_release_asserts, r.single_division_is_unrounded, r.private_pools_expandable,
                              r.release_skips_expandable, r.innermost_scope_wins, r.full_fraction_is_no_limit,
                              r.limit_is_rounded, r.scope_is_capture, r.has_preemptive_rejection,
                              r.scope_is_of_one_stream, r.capture_uses_need_no_event, r.overflow_ignores_expandable);
      },
      "major"_a, "minor"_a, "What decides in a release; releases with equal rules decide alike.");
  m.def(
      "block_size",
      [](Bytes requested, const AllocatorSettings& settings, int major, int minor) {
        return block_size(requested, settings, ReleaseRules::of({major, minor}));
      },
      "requested"_a, "settings"_a, "major"_a, "minor"_a,
      "Bytes of the block that serves a request of that many bytes.");
}

}  // namespace

void bind_allocator(nb::module_& m) {
  bind_settings(m);
  const auto pool = [](bool (CachingAllocator::*call)(OwnerIndex)) {
    return [call](AllocatorOnCard& self, std::uint64_t id) {
      return (self.allocator.*call)(self.allocator.owner({0, id}));
    };
  };
  nb::class_<AllocatorOnCard>(m, "Allocator", "PyTorch's CUDA caching allocator on a simulated card.")
      .def(nb::init<int, int, Bytes>(), "major"_a, "minor"_a, "capacity_bytes"_a)
      .def("configure", [](AllocatorOnCard& self, const AllocatorSettings& s) { self.allocator.configure(s); })
      .def("set_memory_fraction", [](AllocatorOnCard& self, double f) { self.allocator.set_memory_fraction(f); })
      .def("set_capacity", [](AllocatorOnCard& self, Bytes bytes) { self.device.set_limit(bytes); })
      .def("malloc", malloc, "bytes"_a, "stream"_a = 0,
           "Block id, or -1 out of memory, -2 rejected, -3 where PyTorch stops with an internal assertion.")
      .def("free", [](AllocatorOnCard& self, BlockIndex block) { self.allocator.free(block); })
      .def("record_stream",
           [](AllocatorOnCard& self, BlockIndex block, StreamIndex s) { self.allocator.record_stream(block, s); })
      .def("set_events_pending", [](AllocatorOnCard& self, bool pending) { self.allocator.set_events_ready(!pending); })
      .def("set_capturing", [](AllocatorOnCard& self, bool on) { self.allocator.set_capturing(on); })
      .def("empty_cache", [](AllocatorOnCard& self) { return self.allocator.empty_cache(); })
      .def("pool_create", pool(&CachingAllocator::create_pool))
      .def("pool_begin", [](AllocatorOnCard& self,
                            std::uint64_t id) { return self.allocator.begin_scope(self.allocator.owner({0, id})); })
      .def("pool_end", pool(&CachingAllocator::end_scope))
      .def("pool_release", pool(&CachingAllocator::release_pool))
      .def("pool_empty_cache", pool(&CachingAllocator::empty_pool))
      .def("pool_use_on_oom", [](AllocatorOnCard& self,
                                 std::uint64_t id) { self.allocator.set_use_on_oom(self.allocator.owner({0, id})); })
      .def("pool_no_split",
           [](AllocatorOnCard& self, std::uint64_t id) { self.allocator.set_no_split(self.allocator.owner({0, id})); })
      .def("take_events", take_events, "(action, address, size, stream, pool) of each decision since the last call.")
      .def("stats", statistics)
      .def("snapshot", snapshot)
      .def("is_valid", [](const AllocatorOnCard& self) { return self.allocator.is_valid(); })
      .def_prop_ro("undefined", [](const AllocatorOnCard& self) { return self.allocator.undefined(); })
      .def_prop_ro("retries", [](const AllocatorOnCard& self) { return self.allocator.statistics().num_alloc_retries; })
      .def_prop_ro("ooms", [](const AllocatorOnCard& self) { return self.allocator.statistics().num_ooms; });
}

}  // namespace gapless
