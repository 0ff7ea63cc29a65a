// Says what is wrong with a value that stands where a row is due.
#pragma once

#include <cstdint>
#include <string>

#include "snapshot/heap.h"
#include "snapshot/rows.h"
#include "snapshot/texts.h"

namespace gapless {

class Faults {
 public:
  static constexpr const char* kHint =
      "no PyTorch up to 2.14 writes so: record it again, or use a newer Gapless if a newer PyTorch wrote it";

  // `end`: offset of the end of the pickle, for what has no place of its own in the file.
  Faults(const Heap& heap, const Texts& texts, std::uint64_t end) : heap_(heap), texts_(texts), end_(end) {}

  // The value for a message, like "a list", "'abc'" or "-5".
  std::string describe(Value value) const;
  [[noreturn]] void fail(const std::string& path, const std::string& what, const std::string& hint = kHint) const;
  // The value at `path` is no row of kind `want`.
  [[noreturn]] void fail_row(Value value, Kind want, const std::string& path, Rows& rows) const;
  // A list or tuple, resolved.
  Value list_at(Value value, const std::string& path) const;

 private:
  const Heap& heap_;
  const Texts& texts_;
  std::uint64_t end_;
};

}  // namespace gapless
