// cuDNN: handles and versions.
#include "abi/cudnn.h"
#include "card/charges.h"
#include "card/objects.h"
#include "card/settings.h"

namespace {

constexpr int kNotInitialized = 1001;  // what it answers where the card is full

struct Handle {
  gapless::card::Held held;
  void* stream = nullptr;
};

}  // namespace

GAPLESS_API std::size_t cudnnGetVersion() { return static_cast<std::size_t>(gapless::card::settings().cudnn); }
GAPLESS_API std::size_t cudnnGetCudartVersion() { return 13000; }
GAPLESS_API const char* cudnnGetErrorString(int status) {
  if (status == kNotInitialized) return "CUDNN_STATUS_NOT_INITIALIZED";
  return status == 0 ? "CUDNN_STATUS_SUCCESS" : "cuDNN of the pretend card: an error";
}
GAPLESS_API void cudnnGetLastErrorString(char* text, std::size_t size) {
  if (size > 0) text[0] = '\0';
}
GAPLESS_API int cudnnGetProperty(int which, int* value) {
  const int version = gapless::card::settings().cudnn;
  *value = which == 0 ? version / 10000 : which == 1 ? version / 100 % 100 : version % 100;
  return 0;
}
GAPLESS_API int cudnnCreate(void** handle) {
  auto* const made = gapless::card::make_object<Handle>();
  *handle = made;
  return gapless::card::take(gapless::card::Library::kCudnn, &made->held) ? 0 : kNotInitialized;
}
GAPLESS_API int cudnnDestroy(void* handle) {
  gapless::card::give_back(gapless::card::Library::kCudnn, &static_cast<Handle*>(handle)->held);
  return 0;
}
GAPLESS_API int cudnnSetStream(void* handle, void* stream) {
  static_cast<Handle*>(handle)->stream = stream;
  return 0;
}
GAPLESS_API int cudnnGetStream(void* handle, void** stream) {
  *stream = static_cast<Handle*>(handle)->stream;
  return 0;
}
