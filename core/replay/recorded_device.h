// The device as a recording knows it: it answers with what comes next in the recorded events of the call under way.
#pragma once

#include <optional>
#include <vector>

#include "allocator/caching_allocator.h"
#include "device/device.h"
#include "replay/program.h"
#include "trace/trace.h"

namespace gapless {

class RecordedDevice final : public Device, public SynchronizeHook {
 public:
  RecordedDevice(const Trace& trace, const std::vector<Decision>& log, Bytes total_bytes)
      : trace_(trace), log_(log), total_bytes_(total_bytes) {}

  // The events of the next call, remarks left out.
  void expect(std::size_t begin, std::size_t end);
  const std::vector<std::size_t>& expected() const { return expected_; }
  void set_blocks(const std::vector<BlockIndex>* block_of) { block_of_ = block_of; }

  std::optional<Address> allocate(Bytes size) override;
  void release(Address, Bytes) override {}
  std::optional<Address> reserve(Bytes size) override;
  void unreserve(Address, Bytes) override {}
  bool map(Address address, Bytes size) override;
  void unmap(Address, Bytes) override {}
  Bytes free_bytes() const override;
  Bytes total_bytes() const override { return total_bytes_; }
  void on_synchronize(std::vector<BlockIndex>& completed) override;

 private:
  std::optional<std::size_t> next_event() const;  // the recorded event that the next decision should equal

  const Trace& trace_;
  const std::vector<Decision>& log_;  // of the call under way
  Bytes total_bytes_;
  std::vector<std::size_t> expected_;
  const std::vector<BlockIndex>* block_of_ = nullptr;  // by allocation
};

}  // namespace gapless
