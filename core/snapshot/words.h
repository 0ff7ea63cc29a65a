// The words that PyTorch writes into a memory snapshot. They are the first entries of Texts, so that a word is known
// by its number: keys come first and are fewer than 64, which lets a set of keys be one integer.
#pragma once

#include <cstdint>

namespace gapless {

// clang-format off
#define GAPLESS_SNAPSHOT_WORDS(X)                                                                                     \
  X(action) X(addr) X(device_free) X(size) X(stream) X(time_us) X(frames) X(compile_context) X(user_metadata)         \
  X(pool_id) X(forward_frames) X(internal_metadata) X(category)                                        /* events */   \
  X(device) X(address) X(total_size) X(allocated_size) X(active_size) X(requested_size) X(segment_type)               \
  X(segment_pool_id) X(is_expandable) X(blocks)                                                        /* segments */ \
  X(state) X(history) X(real_size)                                                                     /* blocks */   \
  X(filename) X(line) X(name)                                                                          /* frames */   \
  X(fx_node_op) X(fx_node_name) X(fx_node_target) X(fx_node_info) X(fx_original_trace)                                \
  X(segments) X(device_traces) X(allocator_settings) X(external_annotations) X(host_segments) X(host_traces)          \
  X(alloc) X(free_requested) X(free_completed) X(segment_alloc) X(segment_free) X(segment_map) X(segment_unmap)       \
  X(oom) X(snapshot) X(annotate)                                                          /* actions, in Action's order */ \
  X(inactive) X(active_allocated) X(active_pending_free) X(active_awaiting_free)                       /* states */   \
  X(large) X(small)
// clang-format on

namespace word {
enum Word : std::uint32_t {
#define GAPLESS_WORD(text) text,
  GAPLESS_SNAPSHOT_WORDS(GAPLESS_WORD)
#undef GAPLESS_WORD
      count
};
}  // namespace word

inline constexpr const char* kWords[] = {
#define GAPLESS_WORD(text) #text,
    GAPLESS_SNAPSHOT_WORDS(GAPLESS_WORD)
#undef GAPLESS_WORD
};

constexpr std::uint32_t kKeyCount = word::alloc;  // words below are keys
static_assert(kKeyCount <= 64);

constexpr std::uint64_t key_bit(std::uint32_t key) { return std::uint64_t{1} << key; }

}  // namespace gapless
