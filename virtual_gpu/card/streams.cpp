#include "card/streams.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <vector>

#include "card/memory.h"
#include "card/objects.h"

namespace gapless::card {
namespace {

std::atomic<std::uint64_t> launches{0}, records{0};
std::atomic<Completion> completion{settings().completion};
std::atomic<std::uint64_t> lag{settings().lag};

struct Streams {
  std::mutex mutex;
  std::vector<Stream*> all;
  Stream* const default_stream = make_object<Stream>();
};

Streams& streams() {
  static auto* const instance = new Streams;
  return *instance;
}

std::uint64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace

Stream* stream_of(void* handle) {
  constexpr std::uintptr_t kPerThread = 2;  // cudaStreamPerThread; cudaStreamLegacy is 1
  if (reinterpret_cast<std::uintptr_t>(handle) <= kPerThread) return streams().default_stream;
  return static_cast<Stream*>(handle);
}

Stream* make_stream(int priority, unsigned flags) {
  Stream* const stream = make_object<Stream>();
  stream->id = next_id();
  stream->device = current_device();
  stream->priority = priority;
  stream->flags = flags;
  const std::lock_guard<std::mutex> lock(streams().mutex);
  streams().all.push_back(stream);
  return stream;
}

void finish(Stream* stream) { stream->done = records.load(); }

void finish_all() {
  const std::lock_guard<std::mutex> lock(streams().mutex);
  streams().default_stream->done = records.load();
  for (Stream* const stream : streams().all) stream->done = records.load();
}

Event* make_event() { return new Event; }
void destroy(Event* event) { delete event; }

void record(Event* event, Stream* stream) {
  event->stream = stream;
  event->record = ++records;
  event->launches = launches.load();
  event->capture = stream->capture;
  event->time_ns = now_ns();
}

bool is_done(const Event* event) {
  if (event->record == 0 || completion == Completion::kInstant || event->record <= event->stream->done) return true;
  return completion == Completion::kLag && launches.load() >= event->launches + lag.load();
}

void wait_for(const Event* event) {
  if (event->record > 0 && event->record > event->stream->done) event->stream->done = event->record;
}

void make_wait(Stream* stream, const Event* event) {
  const bool is_capturing = event->capture != nullptr && event->stream->capture == event->capture;
  if (is_capturing && stream->capture == nullptr) stream->capture = event->capture;
}

void begin_capture(Stream* stream) {
  stream->capture = make_object<Graph>();
  stream->capture->id = next_id();
}

Graph* end_capture(Stream* stream) {
  Graph* const graph = stream->capture;
  const std::lock_guard<std::mutex> lock(streams().mutex);
  for (Stream* const other : streams().all) {
    if (other->capture == graph) other->capture = nullptr;
  }
  stream->capture = nullptr;
  return graph;
}

void count_launch() { ++launches; }
std::uint64_t launch_count() { return launches.load(); }

void set_completion(Completion to, std::uint64_t launches_later) {
  completion = to;
  lag = launches_later;
}

}  // namespace gapless::card
