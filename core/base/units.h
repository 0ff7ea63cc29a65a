// Sizes are bytes in std::uint64_t, everywhere. Literals keep them readable: 20_MiB.
#pragma once

#include <cstdint>

namespace gapless {

using Bytes = std::uint64_t;
using Address = std::uint64_t;  // a device address as recorded; never dereferenced

constexpr Bytes operator""_KiB(unsigned long long n) { return n << 10; }
constexpr Bytes operator""_MiB(unsigned long long n) { return n << 20; }
constexpr Bytes operator""_GiB(unsigned long long n) { return n << 30; }

// Smallest multiple of `quantum` that is >= n. REQUIRES: quantum > 0, no overflow.
constexpr Bytes round_up(Bytes n, Bytes quantum) { return (n + quantum - 1) / quantum * quantum; }

}  // namespace gapless
