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
  Reader(Input& input, Budget& budget) : budget_(budget), machine_(input, heap_, texts_, rows_, budget) {}

  Snapshot read(std::uint64_t size) {
    try {
      if (size != Input::kUnknown) machine_.reserve_events(size / kEventBytesUsual);
      const Value root = machine_.run();
      machine_.finish();
      return assemble(root, heap_, texts_, rows_, budget_, machine_.offset());
    } catch (const Fault& fault) {
      fail(fault.message, fault.hint);
    } catch (const OverBudget&) {
      fail("the file asks for more than " + std::to_string(budget_.limit() >> 20) +
           " MiB of memory, which no recording of its size needs");
    } catch (const Collisions&) {
      fail("the file holds texts or frames made to slow its reader down");
    } catch (const std::bad_alloc&) {
      fail("the memory of this machine does not suffice to read the file", "free memory, or use a machine with more");
    }
  }

 private:
  [[noreturn]] void fail(const std::string& message,
                         const std::string& hint = "PyTorch writes no such recording") const {
    throw FormatError(message, machine_.offset(), machine_.path(), hint);
  }

  Budget& budget_;
  Heap heap_{budget_};
  Texts texts_{budget_};
  Rows rows_{heap_, budget_};
  Machine machine_;
};

}  // namespace

Snapshot read_snapshot(std::span<const std::uint8_t> bytes) {
  Budget budget(bytes.size());
  Input input(bytes);
  return Reader(input, budget).read(bytes.size());
}

Snapshot read_snapshot(Source& source, std::uint64_t size) {
  Budget budget(size == Input::kUnknown ? 0 : size);
  Input input(source, size, budget);
  return Reader(input, budget).read(size);
}

}  // namespace gapless
