#include "card/objects.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace gapless::card {
namespace {

constexpr std::uintptr_t kBegin = 0x0f00'0000'0000;
constexpr std::size_t kSize = std::size_t{4} << 30;

std::uintptr_t claim() {
  void* const begin = reinterpret_cast<void*>(kBegin);
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  if (mmap(begin, kSize, PROT_READ | PROT_WRITE, flags, -1, 0) != begin) {
    std::fprintf(stderr, "gapless: the system refuses 4 GiB of addresses for the pretend card's handles\n");
    std::exit(2);
  }
  return kBegin;
}

}  // namespace

void* object_memory(std::size_t size) {
  static std::atomic<std::uintptr_t> next{claim()};
  constexpr std::size_t kLine = 64;
  const std::uintptr_t begin = next.fetch_add((size + kLine - 1) / kLine * kLine);
  if (begin + size > kBegin + kSize) return std::calloc(1, size);
  return reinterpret_cast<void*>(begin);
}

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace gapless::card
