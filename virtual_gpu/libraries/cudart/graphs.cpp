// CUDA graphs: a capture tracks which streams belong to it; a launch does nothing.
#include "abi/runtime.h"
#include "card/objects.h"
#include "card/streams.h"
#include "libraries/cudart/errors.h"

using namespace gapless;

namespace {

struct CaptureInfo {
  int* status;
  unsigned long long* id;
  void** graph;
};

int describe_capture(void* stream, const CaptureInfo& info) {
  card::Graph* const capture = card::stream_of(stream)->capture;
  *info.status = capture != nullptr ? abi::kCaptureActive : abi::kCaptureNone;
  if (info.id != nullptr) *info.id = capture != nullptr ? capture->id : 0;
  if (info.graph != nullptr) *info.graph = capture;
  return 0;
}

}  // namespace

GAPLESS_API int cudaStreamBeginCapture(void* stream, int) {
  card::begin_capture(card::stream_of(stream));
  return 0;
}
GAPLESS_API int cudaStreamBeginCaptureToGraph(void* stream, void*, const void*, const void*, std::size_t, int) {
  return cudaStreamBeginCapture(stream, 0);
}
GAPLESS_API int cudaStreamEndCapture(void* stream, void** graph) {
  *graph = card::end_capture(card::stream_of(stream));
  return 0;
}
GAPLESS_API int cudaStreamIsCapturing(void* stream, int* status) {
  return describe_capture(stream, {status, nullptr, nullptr});
}
#if GAPLESS_CUDA_MAJOR >= 13
GAPLESS_API int cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id, void** graph,
                                         const void** nodes, const void** edges, std::size_t* count) {
  if (edges != nullptr) *edges = nullptr;
#else
GAPLESS_API int cudaStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id, void** graph,
                                            const void** nodes, std::size_t* count) {
#endif
  if (nodes != nullptr) *nodes = nullptr;
  if (count != nullptr) *count = 0;
  return describe_capture(stream, {status, id, graph});
}
#if GAPLESS_CUDA_MAJOR < 13
GAPLESS_API int cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id) {
  return describe_capture(stream, {status, id, nullptr});
}
GAPLESS_API int cudaStreamGetCaptureInfo_v3(void* stream, int* status, unsigned long long* id, void** graph,
                                            const void** nodes, const void** edges, std::size_t* count) {
  if (edges != nullptr) *edges = nullptr;
  return cudaStreamGetCaptureInfo_v2(stream, status, id, graph, nodes, count);
}
#endif
GAPLESS_API int cudaThreadExchangeStreamCaptureMode(int* mode) {
  static thread_local int current = 0;
  const int previous = current;
  current = *mode;
  *mode = previous;
  return 0;
}

GAPLESS_API int cudaGraphCreate(void** graph, unsigned) {
  *graph = card::make_object<card::Graph>();
  return 0;
}
GAPLESS_API int cudaGraphDestroy(void*) { return 0; }
GAPLESS_API int cudaGraphExecDestroy(void*) { return 0; }
// One node, whatever was captured: PyTorch warns where there is none.
GAPLESS_API int cudaGraphGetNodes(void*, void** nodes, std::size_t* count) {
  if (nodes == nullptr) {
    *count = 1;
  } else {
    for (std::size_t i = 0; i < *count; ++i) nodes[i] = nullptr;
  }
  return 0;
}
GAPLESS_API int cudaGraphInstantiate(void** executable, void*, unsigned long long) {
  *executable = card::make_handle();
  return 0;
}
GAPLESS_API int cudaGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}
GAPLESS_API int cudaGraphLaunch(void*, void*) {
  card::count_launch();
  return 0;
}
GAPLESS_API int cudaGraphUpload(void*, void*) { return 0; }
GAPLESS_API int cudaGraphDebugDotPrint(void*, const char*, unsigned) { return 0; }
GAPLESS_API int cudaGraphRetainUserObject(void*, void*, unsigned, unsigned) { return 0; }
GAPLESS_API int cudaUserObjectCreate(void** object, void*, void (*)(void*), unsigned, unsigned) {
  *object = card::make_handle();
  return 0;
}
GAPLESS_API int cudaUserObjectRelease(void*, unsigned) { return 0; }
