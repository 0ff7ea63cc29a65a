#include "snapshot/texts.h"

#include <cstring>

#include "snapshot/words.h"

namespace gapless {
namespace {

constexpr std::size_t kInline = 15;  // longer strings have storage of their own

// Bytes of the character at the front of `bytes`; 0 when it is none. Overlong forms and surrogates are none.
std::size_t character_length(const unsigned char* bytes, std::size_t left) {
  const auto follows = [&](std::size_t at, unsigned low = 0x80, unsigned high = 0xBF) {
    return at < left && bytes[at] >= low && bytes[at] <= high;
  };
  const unsigned lead = bytes[0];
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool second = follows(1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF);
    return second && follows(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool second = follows(1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF);
    return second && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::size_t valid_utf8_prefix(std::string_view bytes) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t at = 0;
  while (at < bytes.size()) {
    std::uint64_t word;
    if (bytes.size() - at >= 8 && (std::memcpy(&word, data + at, 8), (word & 0x8080808080808080u) == 0)) {
      at += 8;
      continue;
    }
    const std::size_t length = character_length(data + at, bytes.size() - at);
    if (length == 0) break;
    at += length;
  }
  return at;
}

std::string repair_utf8(std::string_view bytes) {
  std::string repaired;
  while (!bytes.empty()) {
    const std::size_t valid = valid_utf8_prefix(bytes);
    repaired.append(bytes.substr(0, valid));
    if (valid == bytes.size()) break;
    repaired += "\xEF\xBF\xBD";
    bytes.remove_prefix(valid + 1);
  }
  return repaired;
}

Texts::Texts(Budget& budget) : budget_(budget), table_(budget) {
  for (const char* text : kWords) intern(text);
}

std::uint32_t Texts::intern(std::string_view bytes) {
  if (valid_utf8_prefix(bytes) != bytes.size()) {
    const Loan loan(budget_, 3 * bytes.size());
    return intern(repair_utf8(bytes));
  }
  return table_.find_or_add(
      hash_text(bytes), [&](std::uint32_t id) { return strings_[id] == bytes; },
      [&] {
        if (bytes.size() > kInline) budget_.take(bytes.size() + 1);
        push(strings_, std::string(bytes), budget_);
        return static_cast<std::uint32_t>(strings_.size() - 1);
      });
}

}  // namespace gapless
