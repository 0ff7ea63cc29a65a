// Where in the recording the machine stands, read off its stack.
//
// A container that is being filled lies below the values that will go into it. Either a mark parts them, or the
// container takes a single value (APPEND, SETITEM), and that value lies right above it:
//
//   {dict} MARK "segments" [list] "device_traces" [list] [list] MARK event event {dict} MARK "action" "alloc" "size"
//          '- first level of marks                            '- second                '- third
//
// reads device_traces[0][2].size.
#include "snapshot/escapes.h"
#include "snapshot/machine.h"

namespace gapless {
namespace {

class PathReader {
 public:
  PathReader(const Heap& heap, const Texts& texts) : heap_(heap), texts_(texts) {}

  // `items` lie above a mark of `owner`; `has_next`: the container that follows them is being filled.
  void read_marked(Value owner, std::span<const Value> items, bool has_next) {
    if (is_list(owner)) return add_index(owner, items.size());
    if (!is_dict(owner)) return;
    // Keys and values take turns. Where a key is due and none lies, the value before is being filled.
    std::size_t open = 1;
    while (open + 1 < items.size() && items[open + 1].is(Kind::kText)) open += 2;
    const bool ends_whole = open + 1 == items.size() && !has_next;
    if (items.empty() || ends_whole) return;
    add_key(items[open - 1]);
    if (open < items.size()) read_single(items[open], items.subspan(open + 1));
  }

  // `items` lie right above `owner`, which takes them one at a time.
  void read_single(Value owner, std::span<const Value> items) {
    while (steps_ < kStepsMax) {
      const std::size_t skipped = is_dict(owner) ? 1 : 0;
      if (is_list(owner))
        add_index(owner, 0);
      else if (skipped == 1 && !items.empty())
        add_key(items[0]);
      else
        return;
      if (items.size() <= skipped) return;
      owner = items[skipped];
      items = items.subspan(skipped + 1);
    }
  }

  std::string path() const { return path_.starts_with('.') ? path_.substr(1) : path_; }
  bool is_long_enough() const { return steps_ >= kStepsMax; }

 private:
  static constexpr int kStepsMax = 12;

  bool is_list(Value value) const {
    const Value is = heap_.resolve(value);
    return value.is(Kind::kObject) && (is.is(Kind::kEmptyList) || is.is(Kind::kList));
  }
  bool is_dict(Value value) const {
    const Value is = heap_.resolve(value);
    return value.is(Kind::kObject) && (is.is(Kind::kEmptyDict) || is.is(Kind::kDict));
  }
  void add_index(Value list, std::size_t more) {
    ++steps_;
    path_ += '[';
    path_ += std::to_string(heap_.contents(heap_.resolve(list)).size() + more);
    path_ += ']';
  }
  void add_key(Value key) {
    ++steps_;
    path_ += '.';
    path_ += key.is(Kind::kText) ? shown(texts_[key.index()]) : "?";
  }

  const Heap& heap_;
  const Texts& texts_;
  std::string path_;
  int steps_ = 0;
};

}  // namespace

std::string Machine::path() const {
  PathReader reader(heap_, texts_);
  const std::span<const Value> values = stack_.values();
  const std::span<const std::uint64_t> marks = stack_.marks();
  for (std::size_t level = 0; level <= marks.size() && !reader.is_long_enough(); ++level) {
    const bool has_next = level < marks.size();
    const std::size_t first = level == 0 ? 0 : marks[level - 1];
    const std::size_t last = has_next ? marks[level] - (marks[level] > first ? 1 : 0) : values.size();
    const std::span<const Value> items = values.subspan(first, last - first);
    if (level > 0 && first > 0) reader.read_marked(values[first - 1], items, has_next);
    if (level == 0 && !items.empty()) reader.read_single(items[0], items.subspan(1));
  }
  return reader.path();
}

}  // namespace gapless
