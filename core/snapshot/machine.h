// Runs a pickle that is data alone: lists, dictionaries, tuples, numbers and texts. An opcode that would import, call
// or fetch anything is refused. It recurses nowhere, takes nothing on trust (lengths are held against the bytes that
// are left before anything is made of them), and says where it stands when something is wrong.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "snapshot/heap.h"
#include "snapshot/rows.h"
#include "snapshot/texts.h"

namespace gapless {

class Machine {
 public:
  Machine(std::span<const std::uint8_t> bytes, Heap& heap, Texts& texts, Rows& rows, Budget& budget)
      : begin_(bytes.data()),
        at_(begin_),
        opcode_at_(begin_),
        end_(begin_ + bytes.size()),
        heap_(heap),
        texts_(texts),
        rows_(rows),
        budget_(budget) {}

  // The value that the pickle builds. Bytes after its end are not looked at.
  Value run();

  std::uint64_t offset() const { return static_cast<std::uint64_t>(opcode_at_ - begin_); }
  // Where in the recording the machine stands, like device_traces[0][1841].size, as far as the open containers tell.
  std::string path() const;
  // Frees what is needed only while it runs.
  void finish();

 private:
  // One opcode, from the ones that recordings are made of to the ones of old protocols. False at the end.
  bool step();
  bool step_container(std::uint8_t opcode);
  bool step_scalar(std::uint8_t opcode);
  bool step_memo(std::uint8_t opcode);
  bool step_line(std::uint8_t opcode);  // operands that end at a newline, protocol 0
  [[noreturn]] void refuse(std::uint8_t opcode);
  [[noreturn]] void fail(std::string message, std::string hint = {}) const;

  // Reading: each fails when the bytes end first.
  const std::uint8_t* take(std::uint64_t n);
  template <class T>
  T take_number();
  std::string_view take_text(std::uint64_t length);
  std::string_view take_line();
  std::uint64_t take_key();

  // The stack.
  void push_value(Value value) { push(stack_, value, budget_); }
  Value pop();
  Value top() const;
  std::size_t first_of(std::size_t n) const;
  Value owner_below(std::size_t first) const;
  std::size_t pop_mark();  // its position; what was pushed since begins there
  void cut(std::size_t size) { stack_.resize(size); }

  void append(std::size_t first);
  void set_items(std::size_t first);
  void push_tuple(std::size_t first);
  void push_list(std::size_t first, Kind empty);
  void push_long(const std::uint8_t* bytes, std::uint64_t length);
  void push_decimal(std::string_view text);
  void push_text(std::string_view text) { push_value({Kind::kText, texts_.intern(text)}); }
  void memoize(std::uint64_t key, Value value);
  void push_memo(std::uint64_t key);

  static constexpr Value kAbsent{Kind::kEmptyDict, 1};  // of a memo entry; never a value on the stack

  const std::uint8_t* begin_;
  const std::uint8_t* at_;
  const std::uint8_t* opcode_at_;
  const std::uint8_t* end_;
  std::vector<Value> stack_;
  std::vector<std::uint64_t> marks_;  // positions in stack_, ascending
  std::vector<Value> memo_;           // by key, as far as keys come in order
  std::unordered_map<std::uint64_t, Value> memo_rest_;
  Heap& heap_;
  Texts& texts_;
  Rows& rows_;
  Budget& budget_;
};

}  // namespace gapless
