// Changes a pickle opcode by opcode: what comes out is still made of whole opcodes, so that a change reaches the
// meaning of the file instead of ending at its first broken byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <span>
#include <vector>

namespace gapless::fuzz {

using Bytes = std::vector<std::uint8_t>;
using Opcode = std::span<const std::uint8_t>;  // with its operand

// A pickle as the opcodes it is made of; what cannot be read stands in the last. It refers to the bytes it was made of.
class OpcodeList {
 public:
  explicit OpcodeList(std::span<const std::uint8_t> pickle);
  Bytes bytes() const;

  // One change: drop, repeat, swap or move opcodes, change a number, put in an opcode of another kind.
  void mutate(std::mt19937& random);
  // Puts a stretch of another pickle somewhere.
  void splice(const OpcodeList& other, std::mt19937& random);

 private:
  Opcode keep(Bytes opcode) { return made_.emplace_back(std::move(opcode)); }

  std::vector<Opcode> opcodes_;
  std::deque<Bytes> made_;
};

}  // namespace gapless::fuzz
