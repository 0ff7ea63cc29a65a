// A stand-in for the CUDA runtime and the driver's virtual memory calls: books in host memory, nothing else.
//
// Built as libcudart.so.N, the name that libc10_cuda.so asks for; libcuda.so.1 is a link to the same file,
// for releases that open the driver by name. Nothing is stored, copied or computed. Calls that the allocator
// never makes while a script runs answer "not supported", so that a release which begins to need one fails in
// plain sight.
//
//   cudaMalloc   rounds up to 2 MiB pages; takes the lowest freed range of exactly that size, else new
//   addresses from
//                0x700000000000 up; fails past the limit. O(log n), like cudaFree: scripts make millions of
//                calls.
//   reserve      gives addresses from 0x600000000000 up, each 1 GiB aligned; mapping them is what uses
//   memory.
#include "device_runtime.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int status_t;
enum { SUCCESS = 0, OUT_OF_MEMORY = 2, INVALID_VALUE = 1, NOT_READY = 600, NOT_SUPPORTED = 801 };

struct device_state device = {.total_bytes = 80ull << 30, .limit_bytes = 80ull << 30};
static status_t last_error = SUCCESS;

static status_t fail(status_t error) { return last_error = error; }

// ---- Device memory: ranges of pages.

enum { PAGE = 2 << 20, PAGES_MAX = 1 << 23 };  // 16 TiB of addresses; the arrays cost only the memory they touch
static const uint64_t kFirstAddress = 0x700000000000ull, kFirstReservation = 0x600000000000ull, kGiB = 1ull << 30;

struct heap {  // freed ranges of one size: first pages, the lowest on top
  uint32_t* pages;
  uint32_t count, room;
};
static struct heap freed[PAGES_MAX];      // by range length in pages
static uint32_t range_length[PAGES_MAX];  // by first page; 0: no live range starts here
static uint32_t pages_ever = 0;           // pages from here on were never given out

static void heap_push(struct heap* heap, uint32_t page) {
  if (heap->count == heap->room) {
    heap->room = heap->room ? heap->room * 2 : 8;
    heap->pages = realloc(heap->pages, heap->room * sizeof *heap->pages);
    if (!heap->pages) abort();
  }
  uint32_t at = heap->count++;
  for (; at && heap->pages[(at - 1) / 2] > page; at = (at - 1) / 2) heap->pages[at] = heap->pages[(at - 1) / 2];
  heap->pages[at] = page;
}

static uint32_t heap_pop(struct heap* heap) {
  uint32_t lowest = heap->pages[0], moved = heap->pages[--heap->count], at = 0;
  for (uint32_t child; (child = 2 * at + 1) < heap->count; at = child) {
    if (child + 1 < heap->count && heap->pages[child + 1] < heap->pages[child]) child++;
    if (heap->pages[child] >= moved) break;
    heap->pages[at] = heap->pages[child];
  }
  heap->pages[at] = moved;
  return lowest;
}

status_t cudaMalloc(void** pointer, size_t bytes) {
  uint64_t length = (bytes + PAGE - 1) / PAGE;
  if (length >= PAGES_MAX || device.used_bytes + length * PAGE > device.limit_bytes) return fail(OUT_OF_MEMORY);
  uint32_t page;
  if (freed[length].count) {
    page = heap_pop(&freed[length]);
  } else {
    if (length > PAGES_MAX - pages_ever) return fail(OUT_OF_MEMORY);
    page = pages_ever;
    pages_ever += length;
  }
  range_length[page] = length;
  device.used_bytes += length * PAGE;
  *pointer = (void*)(kFirstAddress + (uint64_t)page * PAGE);
  return SUCCESS;
}

status_t cudaFree(void* pointer) {
  uint64_t offset = (uint64_t)pointer - kFirstAddress, page = offset / PAGE;
  if (offset % PAGE || page >= pages_ever || !range_length[page]) return fail(INVALID_VALUE);
  uint32_t length = range_length[page];
  range_length[page] = 0;
  device.used_bytes -= (uint64_t)length * PAGE;
  heap_push(&freed[length], page);
  return SUCCESS;
}

status_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  *free_bytes = device.limit_bytes > device.used_bytes ? device.limit_bytes - device.used_bytes : 0;
  *total_bytes = device.total_bytes;
  return SUCCESS;
}

// ---- Virtual memory: reservations are addresses only, a physical handle is its size.

status_t cuMemAddressReserve(uint64_t* address, size_t bytes, size_t align, uint64_t wish, unsigned long long flags) {
  static uint64_t next = kFirstReservation;
  *address = next;
  next += (bytes + kGiB - 1) / kGiB * kGiB;
  return SUCCESS;
}

status_t cuMemCreate(uint64_t* handle, size_t bytes, void* properties, unsigned long long flags) {
  if (device.used_bytes + bytes > device.limit_bytes) return OUT_OF_MEMORY;
  device.used_bytes += bytes;
  *handle = bytes;
  return SUCCESS;
}

status_t cuMemRelease(uint64_t handle) {
  device.used_bytes -= handle;
  return SUCCESS;
}

// ---- Streams and events.

status_t cudaEventCreateWithFlags(void** event, unsigned flags) {
  static char any;
  *event = &any;
  return SUCCESS;
}

status_t cudaEventQuery(void* event) { return device.events_pending ? fail(NOT_READY) : SUCCESS; }

status_t cudaStreamIsCapturing(void* stream, int* state) {
  *state = device.capturing;
  return SUCCESS;
}

// The releases pass five to seven arguments; the first three are always stream, state and id, the rest stays
// unset.
status_t cudaStreamGetCaptureInfo(void* stream, int* state, unsigned long long* id) {
  if (state) *state = device.capturing;
  if (id) *id = 7;
  return SUCCESS;
}
status_t cudaStreamGetCaptureInfo_v2(void* stream, int* state, unsigned long long* id) {
  return cudaStreamGetCaptureInfo(stream, state, id);
}

// ---- Device properties and errors.

status_t cudaGetDeviceProperties(char* properties, int index) {
  enum { TOTAL_GLOBAL_MEM = 288 };  // offset in cudaDeviceProp of CUDA 12 and 13, after the name and ids
  memset(properties, 0, TOTAL_GLOBAL_MEM);
  strcpy(properties, "stand-in");
  *(uint64_t*)(properties + TOTAL_GLOBAL_MEM) = device.total_bytes;
  return SUCCESS;
}
status_t cudaGetDeviceProperties_v2(char* properties, int index) { return cudaGetDeviceProperties(properties, index); }

status_t cudaGetLastError(void) {
  status_t error = last_error;
  last_error = SUCCESS;
  return error;
}
status_t cudaPeekAtLastError(void) { return last_error; }
const char* cudaGetErrorString(status_t error) { return error == OUT_OF_MEMORY ? "out of memory" : "stand-in error"; }
const char* cudaGetErrorName(status_t error) { return "standInError"; }
status_t cuGetErrorString(status_t error, const char** text) {
  *text = cudaGetErrorString(error);
  return SUCCESS;
}

status_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return SUCCESS;
}
status_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return SUCCESS;
}
status_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return SUCCESS;
}
status_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return SUCCESS;
}

#define GIVES_ZERO(name, ...)  \
  status_t name(__VA_ARGS__) { \
    *value = 0;                \
    return SUCCESS;            \
  }
GIVES_ZERO(cudaGetDevice, int* value)
GIVES_ZERO(cuDeviceGet, int* value, int ordinal)
GIVES_ZERO(cudaDeviceGetAttribute, int* value, int attribute, int index)
GIVES_ZERO(cuDeviceGetAttribute, int* value, int attribute, int index)
GIVES_ZERO(cudaDeviceCanAccessPeer, int* value, int index, int peer)
GIVES_ZERO(cudaEventElapsedTime, float* value, void* begin, void* end)
GIVES_ZERO(cudaEventElapsedTime_v2, float* value, void* begin, void* end)

// Arguments of these do not matter, so none are declared.
#define SUCCEEDS(name) \
  status_t name() { return SUCCESS; }
#define REFUSES(name) \
  status_t name() { return NOT_SUPPORTED; }
// clang-format off
SUCCEEDS(cudaSetDevice); SUCCEEDS(cudaDeviceSynchronize); SUCCEEDS(cudaDeviceEnablePeerAccess);
SUCCEEDS(cudaStreamQuery); SUCCEEDS(cudaStreamSynchronize); SUCCEEDS(cudaStreamWaitEvent);
SUCCEEDS(cudaEventRecord); SUCCEEDS(cudaEventSynchronize); SUCCEEDS(cudaEventDestroy);
SUCCEEDS(cudaThreadExchangeStreamCaptureMode); SUCCEEDS(cuMemMap); SUCCEEDS(cuMemUnmap);
SUCCEEDS(cuMemSetAccess); SUCCEEDS(cuMemAddressFree);

REFUSES(cudaCtxResetPersistingL2Cache); REFUSES(cudaDeviceGetDefaultMemPool);
REFUSES(cudaDeviceGetGraphMemAttribute); REFUSES(cudaDeviceGetPCIBusId); REFUSES(cudaDeviceGraphMemTrim);
REFUSES(cudaDeviceReset); REFUSES(cudaFreeAsync); REFUSES(cudaDeviceSetGraphMemAttribute);
REFUSES(cudaFuncGetAttributes); REFUSES(cudaGraphAddEmptyNode); REFUSES(cudaGraphNodeGetDependencies);
REFUSES(cudaGraphNodeGetType); REFUSES(cudaHostAlloc); REFUSES(cudaHostRegister);
REFUSES(cudaIpcCloseMemHandle); REFUSES(cudaIpcGetMemHandle); REFUSES(cudaIpcOpenMemHandle);
REFUSES(cudaMallocAsync); REFUSES(cudaMemPoolGetAttribute); REFUSES(cudaMemPoolSetAccess);
REFUSES(cudaMemPoolSetAttribute); REFUSES(cudaMemPoolTrimTo); REFUSES(cudaMemcpy); REFUSES(cudaMemcpyAsync);
REFUSES(cudaMemcpyPeerAsync); REFUSES(cudaMemset); REFUSES(cudaMemsetAsync);
REFUSES(cudaPointerGetAttributes); REFUSES(cudaStreamCreateWithPriority); REFUSES(cudaStreamGetPriority);
REFUSES(cudaStreamUpdateCaptureDependencies); REFUSES(cuMemExportToShareableHandle);
REFUSES(cuMemGetAllocationGranularity); REFUSES(cuMemImportFromShareableHandle);
REFUSES(cuMemGetAllocationPropertiesFromHandle); REFUSES(cuMemRetainAllocationHandle);
REFUSES(cuMemsetD32Async); REFUSES(cuStreamWriteValue32); REFUSES(cuMulticastAddDevice);
REFUSES(cuMulticastBindMem); REFUSES(cuMulticastCreate);
// clang-format on

// ---- The driver's entry points, by name.

static status_t any_other_call() { return NOT_SUPPORTED; }

static void* entry_point(const char* name) {
#define GIVE(call) \
  if (!strcmp(name, #call)) return (void*)call
  GIVE(cuMemAddressReserve);
  GIVE(cuMemAddressFree);
  GIVE(cuMemCreate);
  GIVE(cuMemRelease);
  GIVE(cuMemMap);
  GIVE(cuMemUnmap);
  GIVE(cuMemSetAccess);
  GIVE(cuDeviceGet);
  GIVE(cuDeviceGetAttribute);
  GIVE(cuGetErrorString);
#undef GIVE
  return (void*)any_other_call;
}

status_t cudaGetDriverEntryPoint(const char* name, void** call, unsigned long long flags, int* found) {
  *call = entry_point(name);
  if (found) *found = 0;
  return SUCCESS;
}
status_t cudaGetDriverEntryPoint_ptsz(const char* name, void** call, unsigned long long flags, int* found) {
  return cudaGetDriverEntryPoint(name, call, flags, found);
}
status_t cudaGetDriverEntryPointByVersion(const char* name, void** call, unsigned version, unsigned long long flags,
                                          int* found) {
  return cudaGetDriverEntryPoint(name, call, flags, found);
}
