// Runs a pickle that is data alone: lists, dictionaries, tuples, numbers and texts. An opcode that would import, call
// or fetch anything is refused. It recurses nowhere, takes nothing on trust, and says where it stands when something
// is wrong.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "snapshot/heap.h"
#include "snapshot/input.h"
#include "snapshot/rows.h"
#include "snapshot/stack.h"
#include "snapshot/texts.h"

namespace gapless {

class Machine {
 public:
  Machine(Input& input, Heap& heap, Texts& texts, Rows& rows, Budget& budget)
      : input_(input), stack_(budget), memo_(budget), heap_(heap), texts_(texts), rows_(rows), budget_(budget) {}

  // The value that the pickle builds. Bytes after its end are not looked at. Throws Fault, OverBudget, Collisions.
  Value run();
  // Room for the events of a file that holds little else.
  void reserve_events(std::size_t count) {
    memo_.reserve_entries(count);
    heap_.reserve_objects(count);
    rows_.reserve_events(count);
  }
  // Frees what is needed only while it runs.
  void finish();

  std::uint64_t offset() const { return input_.offset(); }
  // Where in the recording the machine stands, like device_traces[0][1841].size, as far as the open containers tell.
  std::string path() const;

 private:
  // What recordings are made of is in run(); each of these does one opcode of its kind, or says false.
  bool run_scalar(std::uint8_t opcode);
  bool run_container(std::uint8_t opcode);
  bool run_stack(std::uint8_t opcode);
  bool run_line(std::uint8_t opcode);  // operands that end at a newline, protocol 0
  void run_other(std::uint8_t opcode);
  [[noreturn]] void refuse(std::uint8_t opcode);

  void append(std::size_t first);
  void set_items(std::size_t first);
  void push_tuple(std::size_t first);
  void push_filled(std::size_t first, Kind empty);
  void push_long(std::uint64_t length);
  void push_decimal(std::string_view text);
  void push_text(std::string_view text) { stack_.push({Kind::kText, texts_.intern(text)}); }
  void settle(std::span<const Value> values, std::size_t step);
  std::uint64_t key_of_line();

  Input& input_;
  Stack stack_;
  Memo memo_;
  Heap& heap_;
  Texts& texts_;
  Rows& rows_;
  Budget& budget_;
};

}  // namespace gapless
