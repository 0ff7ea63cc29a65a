// The fixed places of the pretend device in the address space of the process: the same in every run, so that addresses
// repeat. Nothing is behind them until somebody writes: pages are taken one by one, and read as zeros before.
//
//      0x1000'0000'0000   what cudaMalloc gives      8 TiB
//      0x1800'0000'0000   reservations of the
//                         virtual memory API        16 TiB
//
// A device address can be read and written by the process itself: that is how small values are true (contents.h).
#pragma once

#include "card/address_ranges.h"
#include "card/settings.h"

namespace gapless::card {

constexpr Address kMallocBegin = 0x1000'0000'0000;
constexpr Bytes kMallocSize = 8 * kTiB;
constexpr Address kReservationsBegin = kMallocBegin + kMallocSize;
constexpr Bytes kReservationsSize = 16 * kTiB;
constexpr Address kDeviceEnd = kReservationsBegin + kReservationsSize;

inline Address address_of(const void* pointer) { return reinterpret_cast<Address>(pointer); }
inline void* pointer_to(Address address) { return reinterpret_cast<void*>(address); }
inline bool is_device_address(Address address) { return address >= kMallocBegin && address < kDeviceEnd; }

// Claims the range, at the first call. Ends the process with a message where the system refuses.
void claim_addresses();

// Gives whole pages of the range back to the system: they read as zeros again.
void drop_pages(Address begin, Bytes size);

}  // namespace gapless::card
