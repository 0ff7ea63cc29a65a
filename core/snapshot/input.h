// The bytes of a pickle, read front to back: from memory, or from a source that hands them out in pieces. What is
// still to come is never taken on trust: room for a long text is made as its bytes arrive.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "snapshot/budget.h"
#include "snapshot/fault.h"

namespace gapless {

class Source {
 public:
  virtual ~Source() = default;
  // Fills the front of `into`; the number of bytes, 0 at the end.
  virtual std::size_t read(std::span<std::uint8_t> into) = 0;
};

class Input {
 public:
  static constexpr std::uint64_t kUnknown = UINT64_MAX;

  explicit Input(std::span<const std::uint8_t> bytes)
      : opcode_at_(bytes.data()), at_(bytes.data()), end_(bytes.data() + bytes.size()), begin_(bytes.data()) {}
  // `size`: of all that the source will yield, or kUnknown. The budget grows by what comes beyond it.
  Input(Source& source, std::uint64_t size, Budget& budget) : source_(&source), size_(size), budget_(&budget) {}

  // Offset of the opcode that is being run.
  std::uint64_t offset() const { return passed_ + static_cast<std::uint64_t>(opcode_at_ - begin_); }
  // Bytes that can be looked at from the last taken on, without waiting for more.
  std::uint64_t buffered() const { return static_cast<std::uint64_t>(end_ - at_); }

  std::uint8_t next_opcode() {
    opcode_at_ = at_;
    if (at_ == end_) [[unlikely]]
      if (!fetch()) fault_cut("the file ends before the pickle does");
    return *at_++;
  }

  // What these return is valid until the next call.
  const std::uint8_t* take(std::uint64_t n) {
    if (n > buffered()) [[unlikely]]
      need(n);
    const std::uint8_t* taken = at_;
    at_ += n;
    return taken;
  }
  template <class T>
  T number() {
    static_assert(std::endian::native == std::endian::little, "pickles are little-endian");
    T number;
    std::memcpy(&number, take(sizeof(T)), sizeof(T));
    return number;
  }
  std::string_view text(std::uint64_t length) { return {reinterpret_cast<const char*>(take(length)), length}; }
  // Up to the next newline, which is passed.
  std::string_view line();

 private:
  [[gnu::noinline]] void need(std::uint64_t n);  // makes buffered() >= n, or faults
  [[gnu::noinline]] bool fetch();                // more bytes behind end_; false at the end
  void make_room_behind();

  const std::uint8_t* opcode_at_ = nullptr;
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  const std::uint8_t* begin_ = nullptr;  // of what is in memory
  std::uint64_t passed_ = 0;             // bytes before begin_
  Source* source_ = nullptr;
  std::uint64_t size_ = kUnknown;
  Budget* budget_ = nullptr;
  std::vector<std::uint8_t> buffer_;
};

}  // namespace gapless
