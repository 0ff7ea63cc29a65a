// Fuzzes rewinding, grouping, the self-check and what-if replays. Two kinds of input, told apart by the first byte:
//
// - calls, from which the allocator itself makes a recording: the self-check must then be exact, whatever was cut off;
// - events and segments as they come, contradictory or not: nothing may crash, hang or break the result's own rules.
#include <algorithm>
#include <memory>
#include <set>

#include "allocator/caching_allocator.h"
#include "base/error.h"
#include "device/simulated.h"
#include "fuzz/require.h"
#include "replay/held_memory.h"
#include "replay/program.h"
#include "replay/self_check.h"
#include "replay/what_if.h"
#include "trace/trace.h"

namespace gapless {
namespace {

constexpr Bytes kCard = 256_MiB;
constexpr std::uint16_t kStreams = 3, kPools = 3;
constexpr std::size_t kLongest =
    512;  // of an input: some two hundred calls; longer ones find nothing more, only slower

// Numbers out of the input; zeros when it is used up.
class Numbers {
 public:
  Numbers(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool empty() const { return at_ >= size_; }
  unsigned next() { return empty() ? 0 : data_[at_++]; }
  unsigned below(std::size_t bound) { return next() % static_cast<unsigned>(bound); }
  Bytes size() {  // around the sizes at which decisions change
    static const Bytes edges[] = {1, 512, 1_MiB, 1_MiB + 1, 2_MiB, 9_MiB, 10_MiB, 20_MiB, 30_MiB, 64_MiB};
    const Bytes edge = edges[below(10)];
    const Bytes more = below(5) * 512;
    return below(2) == 1 && edge > 1024 ? edge + more - 1024 : edge + more;
  }
  AllocatorSettings settings() {
    AllocatorSettings settings;
    settings.expandable_segments = below(3) == 0;
    if (below(3) == 0) settings.max_split_size = 20_MiB + below(4) * 20_MiB;
    if (below(4) == 0) settings.roundup_power2_divisions.fill(1u << below(5));
    return settings;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

std::shared_ptr<Snapshot> empty_snapshot() {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->streams = {0, 16, 32};
  snapshot->pools = {{0, 0}, {0, 1}, {0, 2}};
  snapshot->devices.emplace_back();
  return snapshot;
}

void add_event(Events& events, Action action, Address address, Bytes size, std::uint16_t stream, std::uint16_t pool) {
  events.action.push_back(action);
  events.address.push_back(address);
  events.size.push_back(size);
  events.time_us.push_back(kNoTime);
  events.stack.push_back(kNoStack);
  events.stream.push_back(stream);
  events.pool.push_back(pool);
  events.compile_context.push_back(kNoText);
  events.user_metadata.push_back(kNoText);
}

// What the allocator records of calls out of the input.
std::shared_ptr<Snapshot> record(Numbers& numbers, Release release, const AllocatorSettings& settings) {
  SimulatedDevice device(kCard);
  CachingAllocator allocator(release, device);
  std::vector<Decision> log;
  const std::vector<PoolId> pools = empty_snapshot()->pools;
  for (const PoolId& id : pools) allocator.owner(id);
  allocator.set_log(&log);
  allocator.configure(settings);
  for (StreamIndex stream = 0; stream < kStreams; ++stream) allocator.set_stream_handle(stream, stream * 16);
  std::vector<BlockIndex> live, waiting;
  std::set<std::size_t> remarks;  // between free_requested and what follows: a free that waits is told from another
  std::vector<OwnerIndex> open_pools{kDefaultOwner, 1, 2};
  while (!numbers.empty() && !allocator.undefined()) {
    unsigned call = numbers.below(16);
    if (call == 14 && !waiting.empty()) {  // what waited is done when a malloc begins
      if (allocator.block(waiting.back()).is_pending()) allocator.complete(waiting.back());
      waiting.pop_back();
      call = 0;
    }
    if (call < 8) {
      const Bytes size = numbers.size();  // one after the other: compilers order arguments as they like
      const StreamIndex stream = numbers.below(kStreams);
      const OwnerIndex pool = open_pools[numbers.below(open_pools.size())];
      const Placement placed = allocator.malloc_in(size, stream, pool);
      if (placed.outcome == Outcome::kServed) live.push_back(placed.block);
    } else if (call < 14 && !live.empty()) {
      const auto chosen = live.begin() + numbers.below(live.size());
      if (call == 13) {
        allocator.free_deferred(*chosen);
        remarks.insert(log.size());
        waiting.push_back(*chosen);
      } else {
        allocator.free(*chosen);
      }
      live.erase(chosen);
    } else if (call == 15 && waiting.empty()) {
      const OwnerIndex pool = numbers.below(kPools);
      if (pool != kDefaultOwner) {                 // its MemPool goes, and nothing asks there again
        if (open_pools.size() < kPools) continue;  // in which order several give back depends on when each went
        std::erase(open_pools, pool);
        allocator.let_go(pool);
      }
      pool == kDefaultOwner ? allocator.empty_cache() : allocator.empty_pool(pool);
    }
    std::erase_if(waiting, [&](BlockIndex block) { return !allocator.block(block).is_pending(); });
  }
  REQUIRE(allocator.undefined() || allocator.is_valid());
  auto snapshot = empty_snapshot();
  if (allocator.undefined()) return snapshot;
  for (std::size_t i = 0; i < log.size(); ++i) {
    const Decision& d = log[i];
    if (remarks.contains(i)) add_event(snapshot->devices[0].events, Action::kSnapshot, 0, 0, 0, 0);
    add_event(snapshot->devices[0].events, d.action, d.address, d.size, static_cast<std::uint16_t>(d.stream),
              static_cast<std::uint16_t>(d.owner));
  }
  snapshot->devices[0].state = held_memory(allocator).state;
  return snapshot;
}

// Segments and events as they come.
std::shared_ptr<Snapshot> invent(Numbers& numbers) {
  auto snapshot = empty_snapshot();
  DeviceState& state = snapshot->devices[0].state;
  Address at = 64_MiB;
  for (unsigned count = numbers.below(4); count > 0; --count) {
    const auto first = static_cast<std::uint32_t>(state.blocks.size());
    const Address begin = at;
    for (unsigned blocks = 1 + numbers.below(4); blocks > 0; --blocks) {
      const Bytes size = numbers.size();
      state.blocks.push_back({at, size, size, kNoStack, static_cast<BlockState>(numbers.below(3))});
      at += size;
    }
    const auto last = static_cast<std::uint32_t>(state.blocks.size());
    const auto stream = static_cast<std::uint16_t>(numbers.below(kStreams));
    const auto pool = static_cast<std::uint16_t>(numbers.below(kPools));
    const bool is_small = numbers.below(2) == 0;
    const bool is_expandable = numbers.below(2) == 0;
    state.segments.push_back({begin, at - begin, first, last - first, kNoStack, stream, pool, is_small, is_expandable});
    at += numbers.below(2) * 2_MiB;
  }
  while (!numbers.empty()) {
    const auto action = static_cast<Action>(numbers.below(kActionCount));
    const Address address = 64_MiB + numbers.below(32) * 1_MiB;
    const Bytes size = numbers.size();
    const auto stream = static_cast<std::uint16_t>(numbers.below(kStreams));
    const auto pool = numbers.below(4) == 3 ? kUnknownPool : static_cast<std::uint16_t>(numbers.below(kPools));
    add_event(snapshot->devices[0].events, action, address, size, stream, pool);
  }
  return snapshot;
}

void cut_front(Events& events, std::size_t count) {
  const auto cut = [count](auto& column) {
    column.erase(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(count));
  };
  cut(events.action), cut(events.address), cut(events.size), cut(events.time_us), cut(events.stack);
  cut(events.stream), cut(events.pool), cut(events.compile_context), cut(events.user_metadata);
}

void require_tiled(const DeviceState& state) {
  std::size_t blocks = 0;
  for (const Segment& segment : state.segments) {
    Address next = segment.address;
    for (std::uint32_t i = 0; i < segment.block_count; ++i, ++blocks) {
      REQUIRE(state.blocks.at(blocks).address == next && state.blocks[blocks].size > 0);
      next += state.blocks[blocks].size;
    }
    REQUIRE(next == segment.address + segment.size);
  }
  REQUIRE(blocks == state.blocks.size());
}

void replay(const Trace& trace, const Program& program, Numbers options, Release release) {
  WhatIfOptions what{.release = release, .settings = options.settings()};
  // As large as text can say: sums of sizes must stay in 64 bits.
  if (options.below(8) == 0) what.settings.large_segment_size = (~Bytes{0} >> options.below(40)) & ~(1_MiB - 1);
  what.capacity_bytes = 16_MiB + options.next() * 2_MiB;
  what.stops_at_failure = options.below(2) == 0;
  what.start = options.below(2) == 0 ? StartMode::kAnew : StartMode::kAsRecorded;
  what.state_before_event = options.next();
  what.keeps_state_at_failure = options.below(2) == 0;
  what.keeps_timeline = options.below(2) == 0;
  const ReplayResult result = what_if(trace, program, what);
  REQUIRE(what.start == StartMode::kAsRecorded || result.reserved.bytes <= what.capacity_bytes);
  REQUIRE(result.requested.bytes <= result.active.bytes || what.start == StartMode::kAsRecorded);
  REQUIRE(result.hash == what_if(trace, program, what).hash);
  if (result.state) require_tiled(*result.state);
}

}  // namespace
}  // namespace gapless

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gapless;
  Numbers numbers(data, std::min(size, kLongest));
  const bool is_recorded = numbers.below(2) == 0;
  const Release release{2, 1 + static_cast<int>(numbers.below(14))};
  const AllocatorSettings settings = numbers.settings();
  const unsigned cut = numbers.next();
  const Numbers options = numbers;
  const auto snapshot = is_recorded ? record(numbers, release, settings) : invent(numbers);
  Events& events = snapshot->devices[0].events;
  if (cut >= 128) cut_front(events, std::min<std::size_t>(cut - 128, events.count()));

  const ReleaseRules rules = ReleaseRules::of(release);
  const Trace trace = build_trace(snapshot, 0, [&](Bytes n) { return n == 0 ? n : block_size(n, settings, rules); });
  require_tiled(trace.start);
  require_tiled(state_before(trace, events.count() / 2));
  REQUIRE(!is_recorded || trace.contradiction_count == 0);
  bool is_exact = false;
  for (const bool retries : {false, true}) {
    const Program program = build_program(trace, {.releases_are_retries = retries,
                                                  .known_capacity = kCard,
                                                  .asked_releases = {},
                                                  .looks_for_no_split_pools = !retries});
    const SelfCheck check = self_check(trace, program, {release, settings, std::nullopt, kCard});
    REQUIRE(check.events_matching <= check.events_checked);
    is_exact |= check.is_exact();
    replay(trace, program, options, release);
  }
  // Where segments grow, a malloc that waited for streams may be served by pages that stayed mapped: no event says so.
  const bool may_have_waited = settings.expandable_segments && std::ranges::count(events.action, Action::kSnapshot) > 0;
  const bool is_certain = is_recorded && cut < 128 && settings.max_split_size == kUnlimited && !may_have_waited;
  REQUIRE(!is_certain || is_exact);
  return 0;
}
