// What Python reaches with ctypes (src/gapless/virtual/control.py has the same declarations).
#include <cstring>

#include "card/calls.h"
#include "card/charges.h"
#include "card/contents.h"
#include "card/export.h"
#include "card/memory.h"
#include "card/streams.h"

using namespace gapless::card;

extern "C" {

GAPLESS_EXPORT void gapless_card_counters(int device, MemoryCounters* out) { *out = memory_counters(device); }
GAPLESS_EXPORT void gapless_card_charge(int device, int library, Charge* out) {
  *out = charge_of(device, static_cast<Library>(library));
}
GAPLESS_EXPORT Address gapless_card_memory_begin() { return kMallocBegin; }
GAPLESS_EXPORT Bytes gapless_card_memory_size() { return kDeviceEnd - kMallocBegin; }
GAPLESS_EXPORT std::uint64_t gapless_card_launches() { return launch_count(); }
GAPLESS_EXPORT void gapless_card_set_capacity(int device, Bytes capacity) { set_capacity(device, capacity); }
GAPLESS_EXPORT void gapless_card_refuse_allocation(int nth) { refuse_allocation(nth); }
GAPLESS_EXPORT void gapless_card_finish_all() { finish_all(); }
GAPLESS_EXPORT void gapless_card_finish_stream(void* stream) { finish(stream_of(stream)); }

// 0 instant, 1 when waited for, 2 so many launches later.
GAPLESS_EXPORT void gapless_card_set_completion(int mode, std::uint64_t lag) {
  set_completion(static_cast<Completion>(mode), lag);
}

GAPLESS_EXPORT void gapless_card_set_known(Address begin, Bytes size, int known) { set_known(begin, size, known != 0); }
GAPLESS_EXPORT void gapless_card_distrust_reads(int distrust) { distrust_reads(distrust != 0); }
GAPLESS_EXPORT int gapless_card_is_known(Address begin, Bytes size) { return is_known(begin, size) ? 1 : 0; }

// Copies the list into the buffer where it fits; gives its length with the closing zero.
GAPLESS_EXPORT std::size_t gapless_card_calls(char* buffer, std::size_t size) {
  const std::string text = list_calls();
  if (buffer != nullptr && text.size() < size) std::memcpy(buffer, text.c_str(), text.size() + 1);
  return text.size() + 1;
}

}  // extern "C"
