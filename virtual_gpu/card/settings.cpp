#include "card/settings.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace gapless::card {
namespace {

[[noreturn]] void refuse(std::string_view pair, const char* why) {
  std::fprintf(stderr, "gapless: GAPLESS_CARD holds %.*s: %s\n", static_cast<int>(pair.size()), pair.data(), why);
  std::exit(2);
}

std::uint64_t number(std::string_view pair, std::string_view text) {
  std::uint64_t value = 0;
  if (text.empty() || text.size() > 18) refuse(pair, "a whole number is needed");
  for (const char c : text) {
    if (c < '0' || c > '9') refuse(pair, "a whole number is needed");
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

template <class Enum>
struct Word {
  std::string_view text;
  Enum value;
};

template <class Enum, std::size_t N>
Enum word(std::string_view pair, std::string_view text, const Word<Enum> (&words)[N]) {
  for (const Word<Enum>& known : words) {
    if (known.text == text) return known.value;
  }
  refuse(pair, "no such value");
}

constexpr Word<Completion> kCompletions[] = {
    {"instant", Completion::kInstant}, {"manual", Completion::kManual}, {"lag", Completion::kLag}};
constexpr Word<AddressModel> kAddresses[] = {{"ascending", AddressModel::kAscending},
                                             {"descending", AddressModel::kDescending},
                                             {"fresh", AddressModel::kFresh},
                                             {"random", AddressModel::kRandom},
                                             {"recorded", AddressModel::kRecorded}};

void set(Settings& s, std::string_view pair, std::string_view key, std::string_view value) {
  const auto is = [key](std::string_view name) { return key == name; };
  const auto integer = [&] { return static_cast<int>(number(pair, value)); };
  if (is("name"))
    s.name = value;
  else if (is("recorded_addresses"))
    s.recorded_addresses = value;
  else if (is("addresses"))
    s.addresses = word(pair, value, kAddresses);
  else if (is("completion"))
    s.completion = word(pair, value, kCompletions);
  else if (is("devices"))
    s.devices = integer();
  else if (is("capability"))
    s.capability = integer();
  else if (is("code"))
    s.code = integer();
  else if (is("multiprocessors"))
    s.multiprocessors = integer();
  else if (is("threads_per_multiprocessor"))
    s.threads_per_multiprocessor = integer();
  else if (is("registers_per_multiprocessor"))
    s.registers_per_multiprocessor = integer();
  else if (is("cudnn"))
    s.cudnn = integer();
  else if (is("world_size"))
    s.world_size = integer();
  else if (is("capacity"))
    s.capacity = number(pair, value);
  else if (is("context"))
    s.context = number(pair, value);
  else if (is("granularity"))
    s.granularity = number(pair, value);
  else if (is("shared_per_multiprocessor"))
    s.shared_per_multiprocessor = number(pair, value);
  else if (is("shared_per_block"))
    s.shared_per_block = number(pair, value);
  else if (is("l2_cache"))
    s.l2_cache = number(pair, value);
  else if (is("seed"))
    s.seed = number(pair, value);
  else if (is("lag"))
    s.lag = number(pair, value);
  else if (is("contents_limit"))
    s.contents_limit = number(pair, value);
  else if (is("cudnn_workspace"))
    s.cudnn_workspace = number(pair, value);
  else if (is("cublaslt_workspace"))
    s.cublaslt_workspace = number(pair, value);
  else
    refuse(pair, "no such key");
}

Settings parse(const char* text) {
  Settings s;
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) refuse(pair, "no '='");
    set(s, pair, pair.substr(0, equals), pair.substr(equals + 1));
  }
  if (s.devices > kMaxDevices) refuse("devices", "64 at most");
  if (s.granularity == 0 || s.granularity % (64 * kKiB) != 0) refuse("granularity", "a multiple of 64 KiB is needed");
  return s;
}

}  // namespace

const Settings& settings() {
  static const Settings* parsed = new Settings(parse(std::getenv("GAPLESS_CARD")));  // outlives static destructors
  return *parsed;
}

}  // namespace gapless::card
