// Runs the mixed program of benchmarks/mixed.py on PyTorch's own allocator, history off, and prints nanoseconds an
// operation. The operations come on standard input as pairs of 64-bit words: bytes asked for, or 0 and which of the live
// allocations to free; only the calls of the allocator are timed.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/Logging.h>
#if __has_include(<c10/cuda/PeerToPeerAccess.h>)
#include <c10/cuda/PeerToPeerAccess.h>
#define HAS_PEER_ACCESS_CACHE
#endif
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace c10::cuda::_internal {
void setHasPrimaryContext(bool (*has)(c10::DeviceIndex));
}

int main() {
  setenv("TORCH_CPP_LOG_LEVEL", "ERROR", 0);
  c10::initLogging();
  c10::cuda::_internal::setHasPrimaryContext([](c10::DeviceIndex) { return true; });
#ifdef HAS_PEER_ACCESS_CACHE
  c10::cuda::detail::init_p2p_access_cache(1);
#endif
  auto* allocator = c10::cuda::CUDACachingAllocator::get();
  allocator->init(1);

  std::vector<std::uint64_t> words;
  std::uint64_t buffer[8192];
  while (const std::size_t read = std::fread(buffer, sizeof *buffer, 8192, stdin)) {
    words.insert(words.end(), buffer, buffer + read);
  }
  std::vector<void*> live;
  live.reserve(words.size());
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] > 0) {
      live.push_back(allocator->raw_alloc_with_stream(words[i], nullptr));
    } else {
      const std::size_t chosen = words[i + 1];
      allocator->raw_delete(live[chosen]);
      live[chosen] = live.back();
      live.pop_back();
    }
  }
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
  std::printf("%.2f\n", taken.count() / static_cast<double>(words.size() / 2));
  std::fflush(stdout);
  _exit(0);  // the allocator does not survive its own end without a device
}
