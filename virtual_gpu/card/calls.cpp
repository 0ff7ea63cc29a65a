#include "card/calls.h"

#include <dlfcn.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "card/streams.h"

namespace gapless::card {
namespace {

struct Calls {
  std::mutex mutex;
  std::set<std::pair<std::string, std::string>> defaults;
  std::vector<std::unique_ptr<KernelBinary>> binaries;
  std::unordered_map<const void*, KernelBinary*> binary_of_kernel;
  KernelBinary unregistered{0, "?"};
};

Calls& calls() {
  static auto* const instance = new Calls;
  return *instance;
}

}  // namespace

void gapless_default_answer(const char* library, const char* function) {
  const std::lock_guard<std::mutex> lock(calls().mutex);
  calls().defaults.emplace(library, function);
}

KernelBinary* register_binary(const void* data) {
  Dl_info info{};
  const bool found = dladdr(data, &info) != 0 && info.dli_fname != nullptr;
  const std::lock_guard<std::mutex> lock(calls().mutex);
  calls().binaries.push_back(std::make_unique<KernelBinary>(KernelBinary{0, found ? info.dli_fname : "?"}));
  return calls().binaries.back().get();
}

void register_kernel(KernelBinary* binary, const void* host_function) {
  const std::lock_guard<std::mutex> lock(calls().mutex);
  calls().binary_of_kernel[host_function] = binary;
}

void launch(const void* host_function) {
  count_launch();
  const std::lock_guard<std::mutex> lock(calls().mutex);
  const auto known = calls().binary_of_kernel.find(host_function);
  ++(known != calls().binary_of_kernel.end() ? *known->second : calls().unregistered).launches;
}

std::string list_calls() {
  const std::lock_guard<std::mutex> lock(calls().mutex);
  std::map<std::string, std::uint64_t> launches{{calls().unregistered.library, calls().unregistered.launches}};
  for (const auto& binary : calls().binaries) launches[binary->library] += binary->launches;
  std::string text;
  for (const auto& [library, function] : calls().defaults) text += "default " + library + " " + function + "\n";
  for (const auto& [library, count] : launches) {
    if (count > 0) text += "kernels " + library + " " + std::to_string(count) + "\n";
  }
  return text;
}

}  // namespace gapless::card
