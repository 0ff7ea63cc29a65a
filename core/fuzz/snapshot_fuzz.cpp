// Fuzzes the snapshot reader. Beyond what the sanitizers see, an input fails when
// - reading takes more memory than 3 bytes for each byte of input and 64 MiB,
// - something else than a FormatError comes out, or one without a message,
// - a Snapshot comes out that breaks its own rules,
// - reading in small pieces differs from reading at once.
#include <sanitizer/allocator_interface.h>

#include <algorithm>
#include <optional>
#include <random>

#include "fuzz/require.h"
#include "pickle_mutator.h"
#include "snapshot/read_snapshot.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);

namespace gapless {
namespace {

std::size_t live_bytes = 0, live_bytes_peak = 0;

void on_malloc(const volatile void*, std::size_t size) {
  live_bytes += size;
  live_bytes_peak = std::max(live_bytes_peak, live_bytes);
}
void on_free(const volatile void* at) {
  const std::size_t size = at ? __sanitizer_get_allocated_size(const_cast<const void*>(at)) : 0;
  live_bytes -= std::min(size, live_bytes);
}

class Pieces : public Source {
 public:
  Pieces(std::span<const std::uint8_t> bytes, std::size_t piece) : bytes_(bytes), piece_(piece) {}
  std::size_t read(std::span<std::uint8_t> into) override {
    const std::size_t count = std::min({piece_, bytes_.size(), into.size()});
    std::copy_n(bytes_.begin(), count, into.begin());
    bytes_ = bytes_.subspan(count);
    return count;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t piece_;
};

void require_stack(const Stacks& stacks, std::uint32_t stack) { REQUIRE(stack == kNoStack || stack < stacks.count()); }

void require_stacks(const Stacks& stacks) {
  REQUIRE(stacks.begin.front() == 0 && stacks.begin.back() == stacks.frame_of.size());
  REQUIRE(std::is_sorted(stacks.begin.begin(), stacks.begin.end()));
  for (const std::uint32_t frame : stacks.frame_of) REQUIRE(frame < stacks.frames.size());
  for (const Frame& frame : stacks.frames)
    REQUIRE(frame.file < stacks.strings.size() && frame.function < stacks.strings.size() && frame.line >= 0);
}

void require_events(const Snapshot& snapshot, const Events& events) {
  const std::size_t count = events.count();
  REQUIRE(events.address.size() == count && events.size.size() == count && events.time_us.size() == count);
  REQUIRE(events.stack.size() == count && events.stream.size() == count && events.pool.size() == count);
  REQUIRE(events.compile_context.size() == count && events.user_metadata.size() == count);
  for (std::size_t i = 0; i < count; ++i) {
    REQUIRE(static_cast<int>(events.action[i]) < kActionCount);
    require_stack(snapshot.stacks, events.stack[i]);
    REQUIRE(events.stream[i] < snapshot.streams.size());
    REQUIRE(events.pool[i] == kUnknownPool || events.pool[i] < snapshot.pools.size());
    for (const std::uint32_t text : {events.compile_context[i], events.user_metadata[i]})
      REQUIRE(text == kNoText || text < snapshot.stacks.strings.size());
  }
}

void require_state(const Snapshot& snapshot, const DeviceState& state) {
  Address end = 0;
  std::size_t blocks = 0;
  for (const Segment& segment : state.segments) {
    REQUIRE(segment.address >= end && segment.first_block == blocks);
    REQUIRE(segment.stream < snapshot.streams.size());
    REQUIRE(segment.pool == kUnknownPool || segment.pool < snapshot.pools.size());
    require_stack(snapshot.stacks, segment.stack);
    Address next = segment.address;
    for (std::uint32_t i = 0; i < segment.block_count; ++i, ++blocks) {
      const Block& block = state.blocks.at(blocks);
      REQUIRE(block.address == next && block.size > 0 && block.size <= segment.address + segment.size - next);
      require_stack(snapshot.stacks, block.stack);
      next += block.size;
    }
    end = segment.address + segment.size;
    REQUIRE(next == end && end >= segment.address);
  }
  REQUIRE(blocks == state.blocks.size());
}

void require_valid(const Snapshot& snapshot) {
  require_stacks(snapshot.stacks);
  for (std::size_t i = 0; i < snapshot.devices.size(); ++i) {
    const DeviceRecording& recording = snapshot.devices[i];
    REQUIRE(i == 0 || snapshot.devices[i - 1].device < recording.device);
    require_events(snapshot, recording.events);
    require_state(snapshot, recording.state);
  }
}

struct Outcome {
  std::optional<Snapshot> snapshot;
  std::string message;
  std::uint64_t offset = 0;
};

template <class Read>
Outcome outcome_of(std::size_t input_bytes, Read read) {
  Outcome outcome;
  const std::size_t before = live_bytes;
  live_bytes_peak = before;
  try {
    outcome.snapshot = read();
  } catch (const FormatError& error) {
    REQUIRE(error.what()[0] != '\0' && error.offset <= input_bytes);
    outcome.message = error.what();
    outcome.offset = error.offset;
  }
  REQUIRE(live_bytes_peak - before <= 3 * input_bytes + 64_MiB);
  return outcome;
}

}  // namespace
}  // namespace gapless

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  __sanitizer_install_malloc_and_free_hooks(gapless::on_malloc, gapless::on_free);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gapless;
  const std::span<const std::uint8_t> bytes(data, size);
  const Outcome whole = outcome_of(size, [&] { return read_snapshot(bytes); });
  if (whole.snapshot) require_valid(*whole.snapshot);

  Pieces pieces(bytes, 1 + size % 61);
  const std::uint64_t said = size % 2 ? size : Input::kUnknown;
  const Outcome pieced = outcome_of(size, [&] { return read_snapshot(pieces, said); });
  REQUIRE(whole.snapshot.has_value() == pieced.snapshot.has_value());
  if (whole.snapshot) {
    REQUIRE(whole.snapshot->keys == pieced.snapshot->keys &&
            whole.snapshot->settings_json == pieced.snapshot->settings_json);
    REQUIRE(whole.snapshot->stacks.strings == pieced.snapshot->stacks.strings);
  } else {
    REQUIRE(whole.offset == pieced.offset);
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  std::mt19937 random(seed);
  if (random() % 8 == 0) return LLVMFuzzerMutate(data, size, size_max);
  gapless::fuzz::OpcodeList opcodes({data, size});
  for (unsigned changes = 1 + random() % 4; changes > 0; --changes) opcodes.mutate(random);
  const gapless::fuzz::Bytes bytes = opcodes.bytes();
  const std::size_t kept = std::min(bytes.size(), size_max);
  std::copy_n(bytes.begin(), kept, data);
  return kept;
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* one, std::size_t one_size,
                                                 const std::uint8_t* other, std::size_t other_size, std::uint8_t* out,
                                                 std::size_t out_max, unsigned seed) {
  std::mt19937 random(seed);
  gapless::fuzz::OpcodeList opcodes({one, one_size});
  opcodes.splice(gapless::fuzz::OpcodeList({other, other_size}), random);
  const gapless::fuzz::Bytes bytes = opcodes.bytes();
  const std::size_t kept = std::min(bytes.size(), out_max);
  std::copy_n(bytes.begin(), kept, out);
  return kept;
}
