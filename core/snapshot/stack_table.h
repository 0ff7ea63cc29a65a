// Frames and stacks, each once: the Stacks of a recording while it is read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "snapshot/budget.h"
#include "snapshot/id_table.h"
#include "trace/stacks.h"

namespace gapless {

class StackTable {
 public:
  explicit StackTable(Budget& budget) : budget_(budget), frame_table_(budget), stack_table_(budget) {}

  std::uint32_t intern_frame(const Frame& frame);
  std::uint32_t intern_stack(std::span<const std::uint32_t> frames);
  const Frame& frame(std::uint32_t id) const { return stacks_.frames[id]; }
  Stacks take(std::vector<std::string> strings);

 private:
  Budget& budget_;
  IdTable frame_table_;
  IdTable stack_table_;
  Stacks stacks_;
};

}  // namespace gapless
