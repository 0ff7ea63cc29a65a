// Streams, events and graph captures. Work takes no time: what counts is when an event is seen as done, since PyTorch
// reuses memory that another stream was reading only then.
#pragma once

#include <cstdint>

#include "card/export.h"
#include "card/settings.h"

namespace gapless::card {

struct Graph {
  std::uint64_t id = 0;
};

// What a cudaStream_t points to.
struct Stream {
  std::uint64_t id = 0;  // 0: the default stream
  int device = 0;
  int priority = 0;
  unsigned flags = 0;
  std::uint64_t done = 0;    // records up to this number are done
  Graph* capture = nullptr;  // while it captures
};

// What a cudaEvent_t points to.
struct Event {
  Stream* stream = nullptr;    // of the last record
  std::uint64_t record = 0;    // its number; 0: never recorded
  std::uint64_t launches = 0;  // that came before it
  std::uint64_t time_ns = 0;
  Graph* capture = nullptr;
};

// Null and the two special handles of CUDA mean the default stream.
GAPLESS_EXPORT Stream* stream_of(void* handle);
GAPLESS_EXPORT Stream* make_stream(int priority, unsigned flags);
GAPLESS_EXPORT void finish(Stream* stream);
GAPLESS_EXPORT void finish_all();

GAPLESS_EXPORT Event* make_event();
GAPLESS_EXPORT void destroy(Event* event);
GAPLESS_EXPORT void record(Event* event, Stream* stream);
GAPLESS_EXPORT bool is_done(const Event* event);
GAPLESS_EXPORT void wait_for(const Event* event);
GAPLESS_EXPORT void make_wait(Stream* stream, const Event* event);  // also: the stream joins the event's capture

GAPLESS_EXPORT void begin_capture(Stream* stream);
GAPLESS_EXPORT Graph* end_capture(Stream* stream);

GAPLESS_EXPORT void count_launch();
GAPLESS_EXPORT std::uint64_t launch_count();
GAPLESS_EXPORT void set_completion(Completion completion, std::uint64_t lag);

}  // namespace gapless::card
