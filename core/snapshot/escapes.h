// The text forms of pickle's protocol 0: numbers and strings on a line of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gapless {

// A decimal integer: its magnitude, up to 64 bits.
struct Decimal {
  bool is_negative = false;
  bool is_huge = false;  // beyond 64 bits; magnitude is meaningless
  std::uint64_t magnitude = 0;
};
std::optional<Decimal> parse_decimal(std::string_view text);
std::optional<double> parse_double(std::string_view text);

// The contents of a quoted byte string, as repr() writes it. None when the quotes are wrong.
std::optional<std::string> unquote(std::string_view text);
// raw-unicode-escape, as UTF-8.
std::string unescape_unicode(std::string_view text);

// A name from a file, fit to be shown in a message: printable and not long.
std::string shown(std::string_view name);

}  // namespace gapless
