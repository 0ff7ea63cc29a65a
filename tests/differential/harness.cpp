// Runs a script of operations on the real caching allocator of one PyTorch release and prints each of its
// decisions.
//
//   harness CAPACITY_BYTES < script
//
// Output, one line each: "> " and the operation; then what the allocator decided, in its own order, as in a
// recording:
//   ACTION addr=HEX size=BYTES stream=N [pool=A,B]      addr is the free bytes of the card for "oom"
//   segment ... / stat ...                              for the operations "snapshot" and "stats"
//   error TEXT                                          an exception that the operation raised
//
// Operations (N of a stream: the handle is N * 16; P: the private pool (0, P)):
//   alloc ID BYTES STREAM, free ID, record_stream ID STREAM, pending 0|1, empty_cache, config TEXT, fraction
//   F, capacity BYTES, pool_begin P, pool_end P, pool_release P; since 2.6 pool_create P; since 2.8
//   pool_use_on_oom P, pool_empty_cache P; since 2.10 pool_no_split P; capturing 0|1, snapshot, stats.
//
// RELEASE is MAJOR * 100 + MINOR; every difference between releases is in the section "Releases".
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Logging.h>
#if __has_include(<c10/cuda/CUDAAllocatorConfig.h>)
#include <c10/cuda/CUDAAllocatorConfig.h>
#endif
#if __has_include(<c10/cuda/PeerToPeerAccess.h>)
#include <c10/cuda/PeerToPeerAccess.h>
#define HAS_PEER_ACCESS_CACHE
#endif
#include <sys/resource.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <unordered_map>

#include "device_runtime.h"

namespace caching = c10::cuda::CUDACachingAllocator;
using PoolId = c10::cuda::MempoolId_t;

namespace {

cudaStream_t handle_of(std::uintptr_t number) { return reinterpret_cast<cudaStream_t>(number * 16); }
std::uintptr_t number_of(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle) / 16; }

// ---- Printing

void print_event(const caching::TraceEntry& event, PoolId pool) {
  static const char* const names[] = {"alloc",        "free_requested", "free_completed", "segment_alloc",
                                      "segment_free", "segment_map",    "segment_unmap",  "snapshot",
                                      "oom",          "annotate"};
  if (event.action_ == caching::TraceEntry::SNAPSHOT) return;
  std::printf("%s addr=%" PRIx64 " size=%" PRIu64 " stream=%" PRIuPTR, names[static_cast<int>(event.action_)],
              static_cast<std::uint64_t>(event.addr_), static_cast<std::uint64_t>(event.size_),
              number_of(event.stream_));
  if (pool.first || pool.second) {
    std::printf(" pool=%llu,%llu", static_cast<unsigned long long>(pool.first),
                static_cast<unsigned long long>(pool.second));
  }
  std::putchar('\n');
}

// Inactive blocks carry the request of an earlier owner; it means nothing and is not printed.
void print_snapshot() {
  const auto now = caching::snapshot();
  for (const auto& segment : now.segments) {
    const auto pool = segment.owner_private_pool_id;
    std::printf("segment addr=%" PRIx64 " size=%" PRIu64 " stream=%" PRIuPTR " %s%s pool=%llu,%llu requested=%" PRIu64
                ":",
                static_cast<std::uint64_t>(segment.address), static_cast<std::uint64_t>(segment.total_size),
                number_of(segment.stream), segment.is_large ? "large" : "small",
                segment.is_expandable ? " expandable" : "", static_cast<unsigned long long>(pool.first),
                static_cast<unsigned long long>(pool.second), static_cast<std::uint64_t>(segment.requested_size));
    for (const auto& block : segment.blocks) {
      const auto size = static_cast<std::uint64_t>(block.size);
      const auto requested = static_cast<std::uint64_t>(block.requested_size);
      if (block.active) {
        std::printf(" %s %" PRIu64 "/%" PRIu64, block.allocated ? "live" : "pending", size, requested);
      } else {
        std::printf(" free %" PRIu64, size);
      }
    }
    std::putchar('\n');
  }
}

template <typename Stat>
void print_stat(const char* name, const Stat& stat) {
  std::printf("stat %s=%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "\n", name,
              static_cast<std::int64_t>(stat.current), static_cast<std::int64_t>(stat.peak),
              static_cast<std::int64_t>(stat.allocated), static_cast<std::int64_t>(stat.freed));
}

template <typename StatArray>
void print_stats_of_pools(const char* name, const StatArray& stats) {
  static const char* const pools[] = {"all", "small_pool", "large_pool"};
  for (int i = 0; i < 3; ++i) print_stat((std::string(name) + "." + pools[i]).c_str(), stats[i]);
}

void print_count(const char* name, std::int64_t value) { std::printf("stat %s=%" PRId64 "\n", name, value); }

// ---- Releases

void attach_printer();          // print every decision as it is made
void print_recorded_history();  // 2.1 cannot; its history is printed after each operation instead
void begin_pool(PoolId pool);
void end_pool(PoolId pool);

#if RELEASE >= 202
void attach_printer() {
  caching::attachAllocatorTraceTracker([](const caching::TraceEntry& event) {
#if RELEASE >= 208
    print_event(event, event.mempool_);
#else
    print_event(event, {0, 0});
#endif
  });
}
void print_recorded_history() {}
#else
void attach_printer() {  // also clears what was recorded
  const auto no_context = []() -> std::shared_ptr<c10::GatheredContext> { return nullptr; };
  caching::recordHistory(true, no_context, 1 << 20, caching::RecordContext::NEVER);
}
void print_recorded_history() {
  const auto recorded = caching::snapshot();
  for (const auto& event : recorded.device_traces.at(0)) print_event(event, {0, 0});
  attach_printer();
}
#endif

#if RELEASE >= 203
void begin_pool(PoolId pool) {
  caching::beginAllocateToPool(0, pool, [](cudaStream_t) { return true; });
}
void end_pool(PoolId pool) { caching::endAllocateToPool(0, pool); }
#else
void begin_pool(PoolId pool) { caching::get()->beginAllocateStreamToPool(0, handle_of(0), pool); }  // for stream 0 only
void end_pool(PoolId) { caching::get()->endAllocateStreamToPool(0, handle_of(0)); }
#endif

void set_capturing(bool on) {
  device.capturing = on;
#if RELEASE >= 213
  on ? caching::get()->markCaptureBegin(0) : caching::get()->markCaptureEnd(0);
#endif
}

void print_stats() {
  const auto stats = caching::getDeviceStats(0);
  print_stats_of_pools("allocation", stats.allocation);
  print_stats_of_pools("segment", stats.segment);
  print_stats_of_pools("active", stats.active);
  print_stats_of_pools("inactive_split", stats.inactive_split);
  print_stats_of_pools("allocated_bytes", stats.allocated_bytes);
  print_stats_of_pools("reserved_bytes", stats.reserved_bytes);
  print_stats_of_pools("active_bytes", stats.active_bytes);
  print_stats_of_pools("inactive_split_bytes", stats.inactive_split_bytes);
  print_stats_of_pools("requested_bytes", stats.requested_bytes);
  print_stat("oversize_allocations", stats.oversize_allocations);
  print_stat("oversize_segments", stats.oversize_segments);
  print_count("num_alloc_retries", stats.num_alloc_retries);
  print_count("num_ooms", stats.num_ooms);
#if RELEASE >= 212
  print_count("num_oom_rejections", stats.num_oom_rejections);
#endif
  print_count("max_split_size", stats.max_split_size);
#if RELEASE >= 203
  print_count("num_sync_all_streams", stats.num_sync_all_streams);
  print_count("num_device_alloc", stats.num_device_alloc);
  print_count("num_device_free", stats.num_device_free);
#endif
#if RELEASE >= 213
  std::map<PoolId, std::remove_reference_t<decltype(stats.reserved_bytes)>> pools;  // sorted: a hash map has no order
  for (const auto& [pool, bytes] : stats.reserved_bytes_by_private_pools) pools[pool] = bytes;
  for (const auto& [pool, bytes] : pools) {
    const auto name = std::to_string(pool.first) + "_" + std::to_string(pool.second);
    print_stats_of_pools(("reserved_bytes_by_private_pools." + name).c_str(), bytes);
  }
#endif
}

// ---- Operations

using Arguments = std::istream;
using Operation = std::function<void(Arguments&)>;

template <typename T>
T next(Arguments& arguments) {
  T value{};
  if (!(arguments >> value)) throw std::invalid_argument("the operation lacks an argument");
  return value;
}

PoolId next_pool(Arguments& arguments) { return {0, next<unsigned long long>(arguments)}; }

class Program {
 public:
  // Operations on blocks that do not exist (their alloc failed) do nothing.
  void alloc(Arguments& arguments) {
    const auto id = next<std::string>(arguments);
    const auto bytes = next<std::size_t>(arguments);
    blocks_[id] = caching::get()->raw_alloc_with_stream(bytes, handle_of(next<std::uintptr_t>(arguments)));
  }
  void free(Arguments& arguments) {
    const auto found = blocks_.find(next<std::string>(arguments));
    if (found == blocks_.end()) return;
    void* block = found->second;
    blocks_.erase(found);
    caching::get()->raw_delete(block);
  }
  void record_stream(Arguments& arguments) {
    const auto found = blocks_.find(next<std::string>(arguments));
    if (found == blocks_.end()) return;
    const auto stream = c10::cuda::getStreamFromExternal(handle_of(next<std::uintptr_t>(arguments)), 0);
    c10::DataPtr data(found->second, found->second, caching::get()->raw_deleter(), c10::Device(c10::kCUDA, 0));
    caching::recordStream(data, stream);
    data.release_context();
  }

 private:
  std::unordered_map<std::string, void*> blocks_;
};

std::unordered_map<std::string, Operation> operations(Program& program) {
  return {
      {"alloc", [&](Arguments& a) { program.alloc(a); }},
      {"free", [&](Arguments& a) { program.free(a); }},
      {"record_stream", [&](Arguments& a) { program.record_stream(a); }},
      {"pending", [](Arguments& a) { device.events_pending = next<int>(a); }},
      {"capturing", [](Arguments& a) { set_capturing(next<int>(a) != 0); }},
      {"capacity", [](Arguments& a) { device.limit_bytes = next<std::uint64_t>(a); }},
      {"fraction", [](Arguments& a) { caching::setMemoryFraction(next<double>(a), 0); }},
      {"config", [](Arguments& a) { caching::setAllocatorSettings(next<std::string>(a)); }},
      {"empty_cache", [](Arguments&) { caching::emptyCache(); }},
      {"snapshot", [](Arguments&) { print_snapshot(); }},
      {"stats", [](Arguments&) { print_stats(); }},
      {"pool_begin", [](Arguments& a) { begin_pool(next_pool(a)); }},
      {"pool_end", [](Arguments& a) { end_pool(next_pool(a)); }},
      {"pool_release", [](Arguments& a) { caching::releasePool(0, next_pool(a)); }},
#if RELEASE >= 208
      {"pool_create", [](Arguments& a) { caching::createOrIncrefPool(0, next_pool(a)); }},
      {"pool_empty_cache", [](Arguments& a) { caching::emptyCache(next_pool(a)); }},
#elif RELEASE >= 206
      {"pool_create", [](Arguments& a) { caching::ensureExistsAndIncrefPool(0, next_pool(a)); }},
#endif
#if RELEASE >= 211
      {"pool_use_on_oom", [](Arguments& a) { caching::setUseOnOOM(0, next_pool(a), true); }},
#elif RELEASE >= 208
      {"pool_use_on_oom", [](Arguments& a) { caching::setUseOnOOM(0, next_pool(a)); }},
#endif
#if RELEASE >= 210
      {"pool_no_split", [](Arguments& a) { caching::setNoSplit(0, next_pool(a)); }},
#endif
  };
}

// One line, without the stack of this very binary that some releases append.
std::string first_part(std::string text) {
  text = text.substr(0, text.find("\nException raised"));
  for (char& c : text) {
    if (c == '\n' || c == '\0') c = ' ';
  }
  return text;
}

bool always(signed char) { return true; }

// A library that has run into undefined behaviour must not take the machine with it.
void limit_this_process() {
  constexpr rlim_t kBytesMost = 2ull << 30;
  constexpr unsigned kSecondsMost = 300;
  const rlimit most{kBytesMost, kBytesMost};
  setrlimit(RLIMIT_AS, &most);
  alarm(kSecondsMost);
}

}  // namespace

namespace c10::cuda::_internal {
void setHasPrimaryContext(bool (*has_context)(signed char));  // exported by libc10_cuda.so, declared in no header
}

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s CAPACITY_BYTES < script\n", arguments[0]);
    return 2;
  }
  limit_this_process();
  device.total_bytes = device.limit_bytes = std::strtoull(arguments[1], nullptr, 10);
  setenv("TORCH_CPP_LOG_LEVEL", "ERROR", 1);  // newer releases warn at every refused device allocation
  c10::initLogging();
  c10::cuda::_internal::setHasPrimaryContext(always);
#ifdef HAS_PEER_ACCESS_CACHE
  c10::cuda::detail::init_p2p_access_cache(1);
#endif
  caching::get()->init(1);
  attach_printer();

  Program program;
  const auto known = operations(program);
  std::string line, name;
  while (std::getline(std::cin, line)) {
    std::printf("> %s\n", line.c_str());
    std::istringstream words(line);
    if (!(words >> name) || name[0] == '#') continue;
    std::string error;
    try {
      const auto operation = known.find(name);
      if (operation == known.end()) throw std::invalid_argument("this release has no operation " + name);
      operation->second(words);
    } catch (const std::exception& raised) {
      error = first_part(raised.what());
    }
    print_recorded_history();
    if (!error.empty()) std::printf("error %s\n", error.c_str());
  }
  std::fflush(stdout);
  _exit(0);  // without the library's own teardown, which would ask the driver
}
