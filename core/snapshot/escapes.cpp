#include "snapshot/escapes.h"

#include <charconv>

namespace gapless {
namespace {

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xE0 | code >> 12);
    } else {
      put(0xF0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3F));
    }
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

// The number that `count` digits at the front of `text` make.
std::optional<std::uint32_t> digits(std::string_view text, std::size_t count, int base) {
  std::uint32_t number = 0;
  if (text.size() < count) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + count, number, base);
  if (error != std::errc() || end != text.data() + count) return std::nullopt;
  return number;
}

// Appends what the escape after a backslash stands for; returns the bytes it takes.
std::size_t append_escape(std::string& out, std::string_view rest) {
  constexpr std::string_view kLetters = "abfnrtv\\'\"", kMeanings = "\a\b\f\n\r\t\v\\'\"";
  if (const auto hex = rest[0] == 'x' ? digits(rest.substr(1), 2, 16) : std::nullopt) {
    out += static_cast<char>(*hex);
    return 3;
  }
  if (const auto octal = digits(rest, 3, 8)) {
    out += static_cast<char>(*octal);
    return 3;
  }
  const std::size_t letter = kLetters.find(rest[0]);
  if (letter == std::string_view::npos) out += '\\';
  out += letter == std::string_view::npos ? rest[0] : kMeanings[letter];
  return 1;
}

}  // namespace

std::optional<Decimal> parse_decimal(std::string_view text) {
  Decimal decimal;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    decimal.is_negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), decimal.magnitude);
  decimal.is_huge = error == std::errc::result_out_of_range;
  return decimal;
}

std::optional<double> parse_double(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::string> unquote(std::string_view text) {
  if (text.size() < 2 || text.front() != text.back() || (text.front() != '\'' && text.front() != '"'))
    return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::string out;
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find('\\'), text.size());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    text.remove_prefix(1);
    if (text.empty()) return std::nullopt;
    text.remove_prefix(append_escape(out, text));
  }
  return out;
}

std::string unescape_unicode(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const bool is_escape = text[0] == '\\' && text.size() > 1 && (text[1] == 'u' || text[1] == 'U');
    const std::size_t width = is_escape ? (text[1] == 'u' ? 4 : 8) : 0;
    const auto code = is_escape ? digits(text.substr(2), width, 16) : std::nullopt;
    append_utf8(out, code && *code <= 0x10FFFF ? *code : static_cast<unsigned char>(text[0]));
    text.remove_prefix(code && *code <= 0x10FFFF ? 2 + width : 1);
  }
  return out;
}

std::string shown(std::string_view name) {
  constexpr std::size_t kShownMax = 80;
  std::string text;
  for (const char c : name.substr(0, kShownMax)) text += c >= ' ' && c <= '~' ? c : '?';
  return name.size() > kShownMax ? text + "..." : text;
}

}  // namespace gapless
