// What the pretend card is, as the process that started this one says it in the environment.
//
// GAPLESS_CARD holds `key=value` pairs with semicolons between them; every key is a member below, sizes are bytes. It
// reaches child processes by itself: data workers, torchrun's ranks, compile workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "card/export.h"

namespace gapless::card {

using Bytes = std::uint64_t;
constexpr Bytes kKiB = Bytes{1} << 10, kMiB = Bytes{1} << 20, kGiB = Bytes{1} << 30, kTiB = Bytes{1} << 40;
constexpr int kMaxDevices = 64;

// When work on a stream counts as done: at once, when somebody waits for it, or so many launches later.
enum class Completion { kInstant, kManual, kLag };

// Where cudaMalloc puts new memory. Real drivers go up (Windows, WSL) or down in steps of 32 MiB (Linux).
enum class AddressModel { kAscending, kDescending, kFresh, kRandom, kRecorded };

struct Settings {
  int devices = 1;
  Bytes capacity = 80 * kGiB;    // as the driver reports it
  Bytes context = 0;             // taken before PyTorch's first tensor, and charged to the card
  Bytes granularity = 2 * kMiB;  // of physical memory
  std::string name = "Pretend CUDA device";
  int capability = 90;  // 89 for 8.9
  int code = 90;        // the architecture of the code in the wheel that would run
  int multiprocessors = 132;
  int threads_per_multiprocessor = 2048;
  int registers_per_multiprocessor = 65536;
  Bytes shared_per_multiprocessor = 228 * kKiB;
  Bytes shared_per_block = 227 * kKiB;  // with opt-in
  Bytes l2_cache = 50 * kMiB;
  AddressModel addresses = AddressModel::kAscending;
  std::uint64_t seed = 0;          // of kRandom
  std::string recorded_addresses;  // of kRecorded: a file with a line "ADDRESS SIZE", hexadecimal, for each segment
  Completion completion = Completion::kInstant;
  std::uint64_t lag = 0;             // launches, of kLag
  Bytes contents_limit = 64 * kKiB;  // larger copies and fills leave zeros, so that no host memory is taken
  int cudnn = 90100;                 // the version that the installed PyTorch asks for
  Bytes cudnn_workspace = 0;         // that each plan asks for
  Bytes cublaslt_workspace = 0;
  Bytes charge_nccl = 0;  // what a communicator takes beside PyTorch,
  Bytes charge_cudnn = 0;
  Bytes charge_cublas = 0;  // and a handle of these
};

// Parsed at the first call. An unknown key or a value that is none ends the process with a message.
GAPLESS_EXPORT const Settings& settings();

}  // namespace gapless::card
