// Streams and events.
#include "card/streams.h"
#include "card/results.h"

#include "abi/runtime.h"
#include "libraries/cudart/errors.h"

using namespace gapless;
using cudart::result;

GAPLESS_API int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  *stream = card::make_stream(priority, flags);
  return 0;
}
GAPLESS_API int cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
GAPLESS_API int cudaStreamCreate(void** stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
GAPLESS_API int cudaStreamDestroy(void*) { return 0; }
GAPLESS_API int cudaStreamGetPriority(void* stream, int* priority) {
  *priority = card::stream_of(stream)->priority;
  return 0;
}
GAPLESS_API int cudaStreamGetFlags(void* stream, unsigned* flags) {
  *flags = card::stream_of(stream)->flags;
  return 0;
}
GAPLESS_API int cudaStreamGetId(void* stream, unsigned long long* id) {
  *id = card::stream_of(stream)->id;
  return 0;
}
GAPLESS_API int cudaStreamGetDevice(void* stream, int* device) {
  *device = card::stream_of(stream)->device;
  return 0;
}
GAPLESS_API int cudaStreamQuery(void*) { return 0; }
GAPLESS_API int cudaStreamSynchronize(void* stream) {
  card::finish(card::stream_of(stream));
  return 0;
}
GAPLESS_API int cudaStreamWaitEvent(void* stream, void* event, unsigned) {
  card::make_wait(card::stream_of(stream), static_cast<card::Event*>(event));
  return 0;
}
GAPLESS_API int cudaStreamAddCallback(void* stream, void (*call)(void*, int, void*), void* data, unsigned) {
  call(stream, 0, data);
  return 0;
}
GAPLESS_API int cudaLaunchHostFunc(void*, void (*call)(void*), void* data) {
  call(data);
  return 0;
}

GAPLESS_API int cudaEventCreate(void** event) {
  *event = card::make_event();
  return 0;
}
GAPLESS_API int cudaEventCreateWithFlags(void** event, unsigned) { return cudaEventCreate(event); }
GAPLESS_API int cudaEventDestroy(void* event) {
  card::destroy(static_cast<card::Event*>(event));
  return 0;
}
GAPLESS_API int cudaEventRecord(void* event, void* stream) {
  card::record(static_cast<card::Event*>(event), card::stream_of(stream));
  return 0;
}
GAPLESS_API int cudaEventRecordWithFlags(void* event, void* stream, unsigned) { return cudaEventRecord(event, stream); }
GAPLESS_API int cudaEventQuery(void* event) {
  return result(card::is_done(static_cast<card::Event*>(event)) ? 0 : card::kNotReady);
}
GAPLESS_API int cudaEventSynchronize(void* event) {
  card::wait_for(static_cast<card::Event*>(event));
  return 0;
}
// The time between two calls on this machine: a number, and not what a card would take.
GAPLESS_API int cudaEventElapsedTime(float* milliseconds, void* start, void* end) {
  const auto from = static_cast<card::Event*>(start)->time_ns, to = static_cast<card::Event*>(end)->time_ns;
  *milliseconds = static_cast<float>(static_cast<double>(to) - static_cast<double>(from)) / 1e6f;
  return 0;
}
