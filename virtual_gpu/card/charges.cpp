#include "card/charges.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "card/memory.h"

namespace gapless::card {
namespace {

std::mutex mutex;
std::array<std::array<Charge, kLibraries>, kMaxDevices> charges{};

Charge& at(int device, Library library) {
  return charges[static_cast<std::size_t>(device)][static_cast<std::size_t>(library)];
}

Bytes share_of(Library library) {
  const Settings& s = settings();
  return library == Library::kNccl ? s.charge_nccl : library == Library::kCudnn ? s.charge_cudnn : s.charge_cublas;
}

}  // namespace

bool take(Library library, Held* held) {
  const int device = current_device();
  const Bytes share = share_of(library);
  if (share > 0 && allocate(device, share, &held->memory) != kSuccess) return false;
  const std::lock_guard lock(mutex);
  Charge& charge = at(device, library);
  ++charge.count;
  charge.bytes += share;
  charge.bytes_peak = std::max(charge.bytes_peak, charge.bytes);
  return true;
}

void give_back(Library library, Held* held) {
  int device = 0;
  if (held->memory == nullptr || !is_device_pointer(held->memory, &device)) return;
  release(held->memory);
  held->memory = nullptr;
  const std::lock_guard lock(mutex);
  at(device, library).bytes -= share_of(library);
}

Charge charge_of(int device, Library library) {
  const std::lock_guard lock(mutex);
  return at(device, library);
}

}  // namespace gapless::card
