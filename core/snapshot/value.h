// One value of a pickle in eight bytes: what it is, and the number or index that says which. Nothing owns anything;
// texts, lists and rows live in tables and are named by index.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gapless {

enum class Kind : std::uint8_t {
  kNone,
  kBool,       // payload 0 or 1
  kInt,        // payload: 56 bits, signed
  kWide,       // index into Heap's wide integers: 2^55 .. 2^64 - 1
  kWideMinus,  // index into the same, as int64_t: -2^63 .. -2^55 - 1
  kHuge,       // an integer beyond 64 bits, its value forgotten
  kFloat,      // index into the same, as the bits of a double
  kText,       // index into Texts
  kBytes,      // contents forgotten
  kPair,       // tuple of two integers 0 .. 2^28 - 1, the first in the upper bits: pool ids are such
  kObject,     // index into Heap's objects; what an object is stands there, as one of the kinds below
  kEmptyDict,
  kEmptyList,
  kDict,   // index into Heap's runs: key, value, key, value, ...
  kList,   // index into Heap's runs
  kTuple,  // index into Heap's runs
  kEvent,  // index into a table of Rows, so too the rest
  kFrame,
  kSegment,
  kBlock,
  kStack,  // a list of frames
};

class Value {
 public:
  constexpr Value() = default;
  constexpr Value(Kind kind, std::uint64_t payload)
      : word_((static_cast<std::uint64_t>(kind) << 56) | (payload & kPayload)) {}

  constexpr Kind kind() const { return static_cast<Kind>(word_ >> 56); }
  constexpr bool is(Kind kind) const { return this->kind() == kind; }
  constexpr std::uint64_t payload() const { return word_ & kPayload; }
  constexpr std::uint32_t index() const { return static_cast<std::uint32_t>(word_); }
  constexpr std::int64_t integer() const { return static_cast<std::int64_t>(word_ << 8) >> 8; }

  // Whether it is a text with an index below n.
  constexpr bool is_text_below(std::uint32_t n) const { return word_ - Value(Kind::kText, 0).word_ < n; }

  static constexpr bool fits_int(std::int64_t n) {
    return n >= -(std::int64_t{1} << 55) && n < (std::int64_t{1} << 55);
  }
  static constexpr Value of_int(std::int64_t n) { return {Kind::kInt, static_cast<std::uint64_t>(n)}; }
  static constexpr Value of_bool(bool b) { return {Kind::kBool, b}; }

  friend constexpr bool operator==(Value, Value) = default;

 private:
  static constexpr std::uint64_t kPayload = (std::uint64_t{1} << 56) - 1;
  std::uint64_t word_ = 0;
};
static_assert(sizeof(Value) == 8);

constexpr int kPairBits = 28;

}  // namespace gapless
