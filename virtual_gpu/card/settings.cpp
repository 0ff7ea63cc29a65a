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

template <class Member>
struct Key {
  std::string_view name;
  Member Settings::* member;
};

constexpr Key<int> kIntegers[] = {{"devices", &Settings::devices},
                                  {"capability", &Settings::capability},
                                  {"code", &Settings::code},
                                  {"multiprocessors", &Settings::multiprocessors},
                                  {"threads_per_multiprocessor", &Settings::threads_per_multiprocessor},
                                  {"registers_per_multiprocessor", &Settings::registers_per_multiprocessor},
                                  {"cudnn", &Settings::cudnn}};
constexpr Key<std::uint64_t> kNumbers[] = {{"capacity", &Settings::capacity},
                                           {"context", &Settings::context},
                                           {"granularity", &Settings::granularity},
                                           {"shared_per_multiprocessor", &Settings::shared_per_multiprocessor},
                                           {"shared_per_block", &Settings::shared_per_block},
                                           {"l2_cache", &Settings::l2_cache},
                                           {"seed", &Settings::seed},
                                           {"lag", &Settings::lag},
                                           {"contents_limit", &Settings::contents_limit},
                                           {"cudnn_workspace", &Settings::cudnn_workspace},
                                           {"cublaslt_workspace", &Settings::cublaslt_workspace},
                                           {"charge_nccl", &Settings::charge_nccl},
                                           {"charge_cudnn", &Settings::charge_cudnn},
                                           {"charge_cublas", &Settings::charge_cublas}};
constexpr Key<std::string> kTexts[] = {{"name", &Settings::name},
                                       {"recorded_addresses", &Settings::recorded_addresses}};

void set(Settings& s, std::string_view pair, std::string_view key, std::string_view value) {
  for (const auto& known : kIntegers) {
    if (known.name == key) return void(s.*known.member = static_cast<int>(number(pair, value)));
  }
  for (const auto& known : kNumbers) {
    if (known.name == key) return void(s.*known.member = number(pair, value));
  }
  for (const auto& known : kTexts) {
    if (known.name == key) return void(s.*known.member = value);
  }
  if (key == "addresses") return void(s.addresses = word(pair, value, kAddresses));
  if (key == "completion") return void(s.completion = word(pair, value, kCompletions));
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
