// NCCL as one rank sees it: its own data stands in for everybody's.
#include <algorithm>

#include "abi/runtime.h"
#include "card/charges.h"
#include "card/contents.h"
#include "card/memory.h"
#include "card/objects.h"
#include "card/settings.h"
#include "card/streams.h"

using namespace gapless;

namespace {

constexpr int kUnhandledCudaError = 1;

struct UniqueId {  // passed by value
  char bytes[128];
};

struct Communicator {
  card::Held held;
  int ranks = 1;
  int rank = 0;
};

int make(void** out, int ranks, int rank) {
  auto* const communicator = card::make_object<Communicator>();
  communicator->ranks = std::max(ranks, 1);
  communicator->rank = rank;
  *out = communicator;
  return card::take(card::Library::kNccl, &communicator->held) ? 0 : kUnhandledCudaError;
}

Communicator& of(void* communicator) { return *static_cast<Communicator*>(communicator); }

std::size_t bytes_of(std::size_t count, int type) {
  constexpr std::size_t kSizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};  // by ncclDataType_t
  return count * (type >= 0 && type < 12 ? kSizes[type] : 8);
}

int copied(void* to, const void* from, std::size_t size) {
  card::count_launch();
  if (to != from) card::copy(to, from, size);
  return 0;
}

}  // namespace

GAPLESS_API int ncclGetVersion(int* version) {
  *version = 22703;
  return 0;
}
GAPLESS_API const char* ncclGetErrorString(int) { return "NCCL of the pretend card"; }
GAPLESS_API const char* ncclGetLastError(void*) { return ""; }
GAPLESS_API int ncclGetUniqueId(UniqueId* id) {
  *id = {};
  return 0;
}
GAPLESS_API int ncclCommInitRank(void** communicator, int ranks, UniqueId, int rank) {
  return make(communicator, ranks, rank);
}
GAPLESS_API int ncclCommInitRankConfig(void** communicator, int ranks, UniqueId, int rank, void*) {
  return make(communicator, ranks, rank);
}
GAPLESS_API int ncclCommInitRankScalable(void** communicator, int ranks, int rank, int, UniqueId*, void*) {
  return make(communicator, ranks, rank);
}
GAPLESS_API int ncclCommInitAll(void** communicators, int count, const int*) {
  for (int i = 0; i < count; ++i) make(&communicators[i], count, i);
  return 0;
}
GAPLESS_API int ncclCommSplit(void* communicator, int, int, void** part, void*) {
  return make(part, of(communicator).ranks, of(communicator).rank);
}
GAPLESS_API int ncclCommDestroy(void* communicator) {
  if (communicator != nullptr) card::give_back(card::Library::kNccl, &of(communicator).held);
  return 0;
}
GAPLESS_API int ncclCommAbort(void* communicator) { return ncclCommDestroy(communicator); }
GAPLESS_API int ncclCommGetAsyncError(void*, int* error) {
  *error = 0;
  return 0;
}
GAPLESS_API int ncclCommCount(void* communicator, int* count) {
  *count = of(communicator).ranks;
  return 0;
}
GAPLESS_API int ncclCommUserRank(void* communicator, int* rank) {
  *rank = of(communicator).rank;
  return 0;
}
GAPLESS_API int ncclCommRegister(void*, void*, std::size_t, void** handle) {
  *handle = card::make_handle();
  return 0;
}
GAPLESS_API int ncclMemAlloc(void** begin, std::size_t size) {
  return card::allocate(card::current_device(), size, begin) != 0 ? kUnhandledCudaError : 0;
}
GAPLESS_API int ncclMemFree(void* begin) { return card::release(begin) != 0 ? kUnhandledCudaError : 0; }

GAPLESS_API int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int, void*, void*) {
  return copied(to, from, bytes_of(count, type));
}
GAPLESS_API int ncclReduce(const void* from, void* to, std::size_t count, int type, int, int, void*, void*) {
  return copied(to, from, bytes_of(count, type));
}
GAPLESS_API int ncclBroadcast(const void* from, void* to, std::size_t count, int type, int, void*, void*) {
  return copied(to, from, bytes_of(count, type));
}
GAPLESS_API int ncclAllGather(const void* from, void* to, std::size_t count, int type, void* communicator, void*) {
  const std::size_t size = bytes_of(count, type);
  for (int rank = 0; rank < of(communicator).ranks; ++rank) {
    copied(static_cast<char*>(to) + static_cast<std::size_t>(rank) * size, from, size);
  }
  return 0;
}
GAPLESS_API int ncclReduceScatter(const void* from, void* to, std::size_t count, int type, int, void* communicator,
                                  void*) {
  const std::size_t size = bytes_of(count, type);
  return copied(to, static_cast<const char*>(from) + static_cast<std::size_t>(of(communicator).rank) * size, size);
}
