// cuDNN's backend interface: descriptors keep the attributes that were set; every graph has one engine.
#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "abi/cudnn.h"
#include "card/settings.h"
#include "card/streams.h"

using namespace gapless;

namespace {

struct Attribute {
  std::int64_t count = 0;
  std::vector<char> bytes;
};

struct Descriptor {
  std::map<int, Attribute> attributes;
};

std::size_t bytes_of(int type) {
  switch (type) {
    case abi::kAttributeBoolean:
    case abi::kAttributeChar:
      return 1;
    case abi::kAttributeHandle:
    case abi::kAttributeInt64:
    case abi::kAttributeDouble:
    case abi::kAttributePointer:
    case abi::kAttributeDescriptor:
      return 8;
    case abi::kAttributeFraction:
      return 16;
    default:
      return 4;  // 32-bit numbers and enumerations
  }
}

template <class T>
int one(T value, std::int64_t wanted, std::int64_t* count, void* out) {
  if (count != nullptr) *count = 1;
  if (out != nullptr && wanted > 0) std::memcpy(out, &value, sizeof value);
  return 0;
}

// The caller's own descriptor stands for the result.
int callers(std::int64_t* count) {
  if (count != nullptr) *count = 1;
  return 0;
}

}  // namespace

GAPLESS_API int cudnnBackendCreateDescriptor(int, Descriptor** descriptor) {
  *descriptor = new Descriptor;
  return 0;
}
GAPLESS_API int cudnnBackendDestroyDescriptor(Descriptor* descriptor) {
  delete descriptor;
  return 0;
}
GAPLESS_API int cudnnBackendInitialize(Descriptor*) { return 0; }
GAPLESS_API int cudnnBackendFinalize(Descriptor*) { return 0; }
GAPLESS_API int cudnnBackendExecute(void*, Descriptor*, Descriptor*) {
  card::count_launch();
  return 0;
}
GAPLESS_API int cudnnBackendSetAttribute(Descriptor* descriptor, int name, int type, std::int64_t count,
                                         const void* values) {
  const auto* const bytes = static_cast<const char*>(values);
  const std::size_t size = count > 0 ? static_cast<std::size_t>(count) * bytes_of(type) : 0;
  descriptor->attributes[name] = {count, std::vector<char>(bytes, bytes + size)};
  return 0;
}
GAPLESS_API int cudnnBackendGetAttribute(Descriptor* descriptor, int name, int type, std::int64_t wanted,
                                         std::int64_t* count, void* out) {
  switch (name) {
    case abi::kHeuristicResults:
    case abi::kEngineConfigEngine:
    case abi::kPlanEngineConfig:
      return callers(count);
    case abi::kGraphEngineCount:
      return one(std::int64_t{1}, wanted, count, out);
    case abi::kEngineIndex:
      return one(std::int64_t{0}, wanted, count, out);
    case abi::kEngineConfigSharedMemory:
      return one(std::int32_t{0}, wanted, count, out);
    case abi::kPlanWorkspace:
    case abi::kEngineConfigWorkspace:
      return one(static_cast<std::int64_t>(card::settings().cudnn_workspace), wanted, count, out);
    default:
      break;
  }
  const auto found = descriptor->attributes.find(name);
  const bool known = found != descriptor->attributes.end();
  if (count != nullptr) *count = known ? found->second.count : 0;
  if (known && out != nullptr && wanted > 0) {
    const Attribute& attribute = found->second;
    const std::size_t asked = static_cast<std::size_t>(std::min(wanted, attribute.count)) * bytes_of(type);
    std::memcpy(out, attribute.bytes.data(), std::min(asked, attribute.bytes.size()));
  }
  return 0;
}
