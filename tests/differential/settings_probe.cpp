// Gives settings strings to one PyTorch release and prints what it made of them.
//
//   settings_probe < requests
//
// A request is one line: texts in hexadecimal, separated by blanks, given to setAllocatorSettings one after the other
// in a process of their own. The answer is one line of JSON: {"steps": [{"error": "...", "settings": {...}}, ...]}, the
// first step being the state after loading (the environment's settings); "died" stands at its end where the process
// did. Sizes are as PyTorch holds them; a release's own options only.
//
// RELEASE is MAJOR * 100 + MINOR. 2.1 does not show its settings.
#define PYTORCH_C10_DRIVER_API_SUPPORTED  // else the getter of expandable_segments says that the platform has none
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/Logging.h>
#if __has_include(<c10/cuda/CUDAAllocatorConfig.h>)
#include <c10/cuda/CUDAAllocatorConfig.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>

namespace caching = c10::cuda::CUDACachingAllocator;
namespace c10::cuda::_internal {
void setHasPrimaryContext(bool (*)(signed char));
}

namespace {

std::string from_hexadecimal(const std::string& digits) {
  std::string text;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    text += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return text;
}

void print_string(const std::string& text) {
  std::putchar('"');
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') {
      std::printf("\\%c", c);
    } else if (c < 32 || c > 126) {
      std::printf("\\u%04x", c);
    } else {
      std::putchar(c);
    }
  }
  std::putchar('"');
}

// ---- Releases

#if RELEASE >= 202
using Config = caching::CUDAAllocatorConfig;
#endif
#if RELEASE >= 211
using AcceleratorConfig = c10::CachingAllocator::AcceleratorAllocatorConfig;
#endif

void print_settings() {
  std::printf("\"backend\":\"%s\"", caching::get()->name().c_str());
#if RELEASE >= 202
  std::printf(",\"max_split_size\":%zu,\"garbage_collection_threshold\":%.17g", Config::max_split_size(),
              Config::garbage_collection_threshold());
  std::printf(",\"expandable_segments\":%d,\"release_lock_on_cudamalloc\":%d", Config::expandable_segments(),
              Config::release_lock_on_cudamalloc());
  std::printf(",\"pinned_use_cuda_host_register\":%d,\"pinned_num_register_threads\":%zu",
              Config::pinned_use_cuda_host_register(), Config::pinned_num_register_threads());
  for (int k = 0; k < 16; ++k) {
    std::printf("%s%zu", k ? "," : ",\"roundup_power2_divisions\":[",
                Config::roundup_power2_divisions(std::size_t{1} << (20 + k)));
  }
  std::printf("]");
#endif
#if RELEASE >= 206
  std::printf(",\"max_non_split_rounding\":%zu,\"pinned_use_background_threads\":%d",
              Config::max_non_split_rounding_size(), Config::pinned_use_background_threads());
#endif
#if RELEASE >= 209
  std::printf(",\"graph_capture_record_stream_reuse\":%d", Config::graph_capture_record_stream_reuse());
#endif
#if RELEASE >= 210
  std::printf(",\"per_process_memory_fraction\":%.17g,\"pinned_reserve_segment_size_mb\":%zu",
              Config::per_process_memory_fraction(), Config::pinned_reserve_segment_size_mb());
#endif
#if RELEASE >= 211
  std::printf(",\"large_segment_size\":%zu", AcceleratorConfig::large_segment_size());
#endif
#if RELEASE >= 212
  std::printf(",\"pinned_free_catch_all\":%d,\"throw_on_cudamalloc_oom\":%d", Config::pinned_free_catch_all(),
              Config::throw_on_cudamalloc_oom());
#endif
#if RELEASE >= 213
  std::printf(",\"pinned_max_round_threshold\":%zu,\"pinned_max_cached_size\":%zu",
              AcceleratorConfig::pinned_max_round_threshold(), AcceleratorConfig::pinned_max_cached_size());
#endif
}

// ---- Requests

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    const std::string text = error.what();
    return text.substr(0, text.find("\nException raised"));
  }
  return "";
}

void step(bool is_first, const std::function<void()>& action) {
  std::printf("%s{\"error\":", is_first ? "" : ",");
  print_string(error_of(action));
  std::printf(",\"settings\":{");
  const std::string error = error_of(print_settings);
  std::printf("},\"settings_error\":");
  print_string(error);
  std::printf("}");
  std::fflush(stdout);
}

void answer(const std::string& request) {
  std::printf("{\"steps\":[");
  step(true, [] { caching::get()->init(1); });
  std::istringstream words(request);
  for (std::string word; words >> word;) {
    step(false, [&] { caching::setAllocatorSettings(from_hexadecimal(word)); });
  }
  std::printf("]}\n");
}

}  // namespace

int main() {
  setenv("TORCH_CPP_LOG_LEVEL", "ERROR", 0);
  c10::initLogging();
  c10::cuda::_internal::setHasPrimaryContext([](signed char) { return true; });
  for (std::string request; std::getline(std::cin, request);) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      answer(request);
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) std::printf("],\"died\":%d}\n", status);
  }
  return 0;
}
