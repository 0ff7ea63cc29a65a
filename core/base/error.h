// The errors that a caller can cause. Each keeps what a person needs to act: what is wrong, where in the input, and
// what to do. The bindings turn them into the Python types of the same names (src/gapless/errors.py).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace gapless {

// The bytes are not a memory snapshot, or are cut, corrupt or hostile.
class FormatError : public std::runtime_error {
 public:
  FormatError(std::string message, std::uint64_t offset, std::string path = {}, std::string hint = {})
      : std::runtime_error(std::move(message)), offset(offset), path(std::move(path)), hint(std::move(hint)) {}
  std::uint64_t offset;  // byte offset in the decompressed input
  std::string path;      // like device_traces[0][1841].size; empty when unknown
  std::string hint;      // what to do about it; may be empty
};

// The trace contradicts itself at an event.
class TraceError : public std::runtime_error {
 public:
  TraceError(std::string message, std::int64_t event) : std::runtime_error(std::move(message)), event(event) {}
  std::int64_t event;  // 0-based event of the device, -1 when it is not about one
};

}  // namespace gapless
