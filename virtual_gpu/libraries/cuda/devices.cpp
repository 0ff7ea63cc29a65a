// The driver: devices, contexts, errors.
#include <cstdio>
#include <cstring>

#include "abi/driver.h"
#include "card/attributes.h"
#include "card/memory.h"
#include "card/objects.h"
#include "card/settings.h"
#include "card/streams.h"

using namespace gapless;

namespace {

thread_local void* current_context = nullptr;

// One context for each device; PyTorch uses no others.
void* primary_context() {
  static void* const context = card::make_handle();
  return context;
}

int checked(int device) { return device >= 0 && device < card::device_count() ? 0 : card::kInvalidDevice; }

}  // namespace

GAPLESS_API int cuInit(unsigned) { return card::device_count() > 0 ? 0 : card::kNoDevice; }
GAPLESS_API int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
GAPLESS_API int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return checked(ordinal);
}
GAPLESS_API int cuDeviceGetCount(int* count) {
  *count = card::device_count();
  return 0;
}
GAPLESS_API int cuDeviceGetName(char* text, int size, int device) {
  std::snprintf(text, static_cast<std::size_t>(size), "%s", card::settings().name.c_str());
  return checked(device);
}
GAPLESS_API int cuDeviceTotalMem_v2(std::size_t* total, int device) {
  card::Bytes bytes = 0;
  if (const int error = checked(device)) return error;
  card::memory_info(device, nullptr, &bytes);
  *total = bytes;
  return 0;
}
GAPLESS_API int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = card::device_attribute(attribute);
  return checked(device);
}
GAPLESS_API int cuDeviceGetUuid_v2(char* uuid, int device) {
  std::memset(uuid, 0, 16);
  uuid[0] = static_cast<char>(0xfa);
  uuid[15] = static_cast<char>(device);
  return checked(device);
}
GAPLESS_API int cuDeviceGetUuid(char* uuid, int device) { return cuDeviceGetUuid_v2(uuid, device); }
GAPLESS_API int cuDeviceGetPCIBusId(char* text, int size, int device) {
  std::snprintf(text, static_cast<std::size_t>(size), "0000:%02x:00.0", 1 + device);
  return checked(device);
}

GAPLESS_API int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = primary_context();
  return checked(device);
}
GAPLESS_API int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
GAPLESS_API int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  if (flags != nullptr) *flags = 0;
  if (active != nullptr) *active = 1;
  return checked(device);
}
GAPLESS_API int cuCtxGetCurrent(void** context) {
  *context = current_context != nullptr ? current_context : primary_context();
  return 0;
}
GAPLESS_API int cuCtxSetCurrent(void* context) {
  current_context = context;
  return 0;
}
GAPLESS_API int cuCtxPushCurrent_v2(void* context) { return cuCtxSetCurrent(context); }
GAPLESS_API int cuCtxPopCurrent_v2(void** context) {
  if (context != nullptr) *context = current_context;
  current_context = nullptr;
  return 0;
}
GAPLESS_API int cuCtxGetDevice(int* device) {
  *device = card::current_device();
  return 0;
}
GAPLESS_API int cuCtxSynchronize() {
  card::finish_all();
  return 0;
}
GAPLESS_API int cuGetErrorString(int error, const char** text) {
  *text = card::text_of(error).text;
  return 0;
}
GAPLESS_API int cuGetErrorName(int error, const char** name) {
  *name = card::text_of(error).driver_name;
  return 0;
}
