#include "snapshot/read_snapshot.h"

#include <new>

#include "snapshot/assemble.h"
#include "snapshot/machine.h"

namespace gapless {
namespace {

// An event with shared frames takes about 86 bytes; rows are reserved for files that hold little else.
constexpr std::size_t kEventBytesUsual = 80;

class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes)
      : bytes_(bytes), budget_(reading_memory_max(bytes.size())), machine_(bytes, heap_, texts_, rows_, budget_) {}

  Snapshot read() {
    try {
      rows_.reserve_events(bytes_.size() / kEventBytesUsual);
      const Value root = machine_.run();
      machine_.finish();
      return assemble(root, heap_, texts_, rows_, budget_, machine_.offset());
    } catch (const OverBudget&) {
      fail("asks for more than " + std::to_string(budget_.limit() >> 20) + " MiB of memory, which no recording of " +
           std::to_string(bytes_.size()) + " bytes needs");
    } catch (const Collisions&) {
      fail("holds texts or frames made to slow its reader down");
    } catch (const std::bad_alloc&) {
      throw FormatError("the memory of this machine does not suffice to read the file", machine_.offset(), {},
                        "free memory, or use a machine with more");
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError("the file " + what, machine_.offset(), machine_.path(), "PyTorch writes no such recording");
  }

  std::span<const std::uint8_t> bytes_;
  Budget budget_;
  Heap heap_{budget_};
  Texts texts_{budget_};
  Rows rows_{heap_, budget_};
  Machine machine_;
};

}  // namespace

Snapshot read_snapshot(std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) throw FormatError("the file is empty", 0, {}, "record it again");
  return Reader(bytes).read();
}

}  // namespace gapless
