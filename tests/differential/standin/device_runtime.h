// The knobs of the stand-in device: what a script may change while the allocator runs.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct device_state {
  uint64_t total_bytes;  // the card's size, as its properties report it
  uint64_t limit_bytes;  // so much may be in use; at first total_bytes
  uint64_t used_bytes;
  int events_pending;  // 1: no event is complete; 0: every event is
  int capturing;       // 1: every stream says that it is being captured
};
extern struct device_state device;

#ifdef __cplusplus
}
#endif
