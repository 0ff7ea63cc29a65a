#include "pickle_mutator.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "snapshot/opcodes.h"

namespace gapless::fuzz {
namespace {

constexpr std::string_view kPlain = "(.012NR]})adelobstu\x81\x85\x86\x87\x88\x89\x8f\x90\x91\x92\x93\x94\x97\x98";
constexpr std::string_view kLined = "FILSVPgp";

std::uint64_t read_length(std::span<const std::uint8_t> bytes, std::size_t width) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), std::min(width, bytes.size()));
  return length;
}

// Bytes of operand that follow an opcode which has a length of `width` bytes in front of them.
std::uint64_t counted(std::span<const std::uint8_t> rest, std::size_t width) {
  return width + std::min<std::uint64_t>(read_length(rest, width), rest.size());
}

std::uint64_t lines(std::span<const std::uint8_t> rest, int count) {
  std::size_t at = 0;
  for (; count > 0 && at < rest.size(); ++at) count -= rest[at] == '\n';
  return at;
}

std::uint64_t operand_length(std::uint8_t opcode, std::span<const std::uint8_t> rest) {
  switch (opcode) {
    case op::kBinInt1:
    case op::kBinGet:
    case op::kBinPut:
    case op::kProto:
    case op::kExt1:
      return 1;
    case op::kBinInt2:
    case op::kExt2:
      return 2;
    case op::kBinInt:
    case op::kLongBinGet:
    case op::kLongBinPut:
    case op::kExt4:
      return 4;
    case op::kBinFloat:
    case op::kFrame:
      return 8;
    case op::kLong1:
    case op::kShortBinUnicode:
    case op::kShortBinString:
    case op::kShortBinBytes:
      return counted(rest, 1);
    case op::kLong4:
    case op::kBinUnicode:
    case op::kBinString:
    case op::kBinBytes:
      return counted(rest, 4);
    case op::kBinUnicode8:
    case op::kBinBytes8:
    case op::kByteArray8:
      return counted(rest, 8);
    case op::kGlobal:
    case op::kInst:
      return lines(rest, 2);
    default:
      return kLined.find(static_cast<char>(opcode)) == std::string_view::npos ? 0 : lines(rest, 1);
  }
}

std::size_t below(std::size_t n, std::mt19937& random) { return n == 0 ? 0 : random() % n; }

Bytes number_of_interest(std::mt19937& random) {
  static constexpr std::uint64_t kNumbers[] = {
      0,         1, 255, 256, 512, 1u << 20, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX, 1ull << 55, (1ull << 55) - 1,
      1ull << 60};
  std::uint64_t number = kNumbers[below(std::size(kNumbers), random)];
  if (random() % 4 == 0) number = ~number;
  Bytes opcode{op::kLong1, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  std::memcpy(opcode.data() + 2, &number, 8);
  if (random() % 2 == 0) opcode[1] = 8, opcode.resize(10);
  return opcode;
}

Bytes random_opcode(std::mt19937& random) {
  switch (random() % 5) {
    case 0:
      return number_of_interest(random);
    case 1:
      return {op::kBinGet, static_cast<std::uint8_t>(random() % 64)};
    case 2:
      return {op::kShortBinUnicode, 4, 's', 'i', 'z', 'e'};
    case 3: {
      Bytes opcode(2 + random() % 9, static_cast<std::uint8_t>(random()));
      for (std::uint8_t& byte : opcode) byte = static_cast<std::uint8_t>(random());
      return opcode;
    }
    default:
      return {static_cast<std::uint8_t>(kPlain[below(kPlain.size(), random)])};
  }
}

Bytes with_other_operand(Opcode opcode, std::mt19937& random) {
  static constexpr std::uint8_t kBytes[] = {0, 1, 0x7F, 0x80, 0xFF};
  Bytes changed(opcode.begin(), opcode.end());
  if (changed.size() < 2) return random_opcode(random);
  std::uint8_t& byte = changed[1 + below(changed.size() - 1, random)];
  byte = random() % 2 ? kBytes[below(std::size(kBytes), random)] : static_cast<std::uint8_t>(byte + random() % 3 - 1);
  return changed;
}

}  // namespace

OpcodeList::OpcodeList(std::span<const std::uint8_t> pickle) {
  while (!pickle.empty()) {
    const std::size_t length = std::min<std::uint64_t>(1 + operand_length(pickle[0], pickle.subspan(1)), pickle.size());
    opcodes_.push_back(pickle.first(length));
    pickle = pickle.subspan(length);
  }
}

Bytes OpcodeList::bytes() const {
  Bytes bytes;
  for (const Opcode opcode : opcodes_) bytes.insert(bytes.end(), opcode.begin(), opcode.end());
  return bytes;
}

void OpcodeList::mutate(std::mt19937& random) {
  if (opcodes_.empty()) opcodes_.push_back(keep({op::kStop}));
  const std::size_t at = below(opcodes_.size(), random);
  const std::size_t length = 1 + below(std::min<std::size_t>(opcodes_.size() - at, 1 + random() % 24), random);
  const std::size_t end = std::min(opcodes_.size(), at + length + below(16, random));
  const auto place = [&](std::size_t i) { return opcodes_.begin() + static_cast<std::ptrdiff_t>(i); };
  switch (random() % 8) {
    case 0:
      opcodes_.erase(place(at), place(at + length));
      break;
    case 1: {
      const std::vector<Opcode> stretch(place(at), place(at + length));
      opcodes_.insert(place(at), stretch.begin(), stretch.end());
      break;
    }
    case 2:
      std::swap(opcodes_[at], opcodes_[below(opcodes_.size(), random)]);
      break;
    case 3:
      opcodes_.insert(place(at), keep(random_opcode(random)));
      break;
    case 4:
      opcodes_[at] = keep(random_opcode(random));
      break;
    case 5:
      std::rotate(place(at), place(at + length), place(end));
      break;
    default:
      opcodes_[at] = keep(with_other_operand(opcodes_[at], random));
  }
}

void OpcodeList::splice(const OpcodeList& other, std::mt19937& random) {
  const std::size_t from = below(other.opcodes_.size() + 1, random);
  const std::size_t length = below(other.opcodes_.size() - from + 1, random);
  const auto begin = other.opcodes_.begin() + static_cast<std::ptrdiff_t>(from);
  const auto place = opcodes_.begin() + static_cast<std::ptrdiff_t>(below(opcodes_.size() + 1, random));
  opcodes_.insert(place, begin, begin + static_cast<std::ptrdiff_t>(length));
}

}  // namespace gapless::fuzz
