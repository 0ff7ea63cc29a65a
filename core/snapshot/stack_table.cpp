#include "snapshot/stack_table.h"

#include <algorithm>

namespace gapless {

std::uint32_t StackTable::intern_frame(const Frame& frame) {
  const std::uint64_t names = std::uint64_t{frame.file} << 32 | frame.function;
  return frame_table_.find_or_add(
      mix_hash(mix_hash(0, names), static_cast<std::uint32_t>(frame.line)),
      [&](std::uint32_t id) {
        const Frame& other = stacks_.frames[id];
        return other.file == frame.file && other.function == frame.function && other.line == frame.line;
      },
      [&] {
        push(stacks_.frames, frame, budget_);
        return static_cast<std::uint32_t>(stacks_.frames.size() - 1);
      });
}

std::uint32_t StackTable::intern_stack(std::span<const std::uint32_t> frames) {
  std::uint64_t hash = mix_hash(0x9E6C63D0876A3F6Bu, frames.size());
  for (const std::uint32_t frame : frames) hash = mix_hash(hash, frame);
  return stack_table_.find_or_add(
      mix_hash(hash, 1),
      [&](std::uint32_t id) {
        const std::uint32_t begin = stacks_.begin[id];
        return stacks_.begin[id + 1] - begin == frames.size() &&
               std::equal(frames.begin(), frames.end(), stacks_.frame_of.begin() + begin);
      },
      [&] {
        if (stacks_.frame_of.size() + frames.size() > 0xFFFFFFFFu) throw OverBudget{};
        make_room(stacks_.frame_of, frames.size(), budget_);
        stacks_.frame_of.insert(stacks_.frame_of.end(), frames.begin(), frames.end());
        push(stacks_.begin, static_cast<std::uint32_t>(stacks_.frame_of.size()), budget_);
        return static_cast<std::uint32_t>(stacks_.count() - 1);
      });
}

Stacks StackTable::take(std::vector<std::string> strings) {
  stacks_.strings = std::move(strings);
  return std::move(stacks_);
}

}  // namespace gapless
