// Stacks of frames, interned: each distinct string, frame and stack is stored once and named by its index.
// Frames of a stack are innermost first, as recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gapless {

struct Frame {
  std::uint32_t file;      // index into Stacks::strings
  std::uint32_t function;  // index into Stacks::strings
  std::int32_t line;       // 0 when unknown
};

// Stack i is frame_of[begin[i]] .. frame_of[begin[i + 1] - 1], indices into `frames`.
// Invariant: begin.size() == count() + 1.
struct Stacks {
  std::vector<std::string> strings;
  std::vector<Frame> frames;
  std::vector<std::uint32_t> begin{0};
  std::vector<std::uint32_t> frame_of;  // concatenated frame indices of all stacks

  std::size_t count() const { return begin.size() - 1; }
};

}  // namespace gapless
