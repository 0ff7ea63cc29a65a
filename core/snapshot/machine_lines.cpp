// The machine's rarer half: operands on lines, as protocol 0 writes them, and what it says when it refuses.
#include <cstring>

#include "snapshot/escapes.h"
#include "snapshot/machine.h"
#include "snapshot/opcodes.h"

namespace gapless {
std::string_view Machine::take_line() {
  const auto left = static_cast<std::size_t>(end_ - at_);
  const void* newline = left > 0 ? std::memchr(at_, '\n', left) : nullptr;
  if (!newline) fail("the file ends inside a line", "it was cut: copy or record it again");
  const auto length = static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(newline) - at_);
  const std::string_view line = take_text(length);
  take(1);
  return line;
}

bool Machine::step_line(std::uint8_t opcode) {
  switch (opcode) {
    case op::kInt: {
      const std::string_view line = take_line();
      if (line == "00" || line == "01")
        push_value(Value::of_bool(line == "01"));
      else
        push_decimal(line);
      return true;
    }
    case op::kLong: {
      const std::string_view line = take_line();
      push_decimal(line.substr(0, line.size() - line.ends_with('L')));
      return true;
    }
    case op::kFloat: {
      const auto number = parse_double(take_line());
      if (!number) fail("a number stands here that cannot be read");
      push_value(heap_.of_float(*number));
      return true;
    }
    case op::kString: {
      const std::string_view line = take_line();
      budget_.take(line.size());
      const auto text = unquote(line);
      if (!text) fail("a string stands here without its quotes");
      push_text(*text);
      budget_.give_back(line.size());
      return true;
    }
    case op::kUnicode: {
      const std::string_view line = take_line();
      budget_.take(2 * line.size());
      push_text(unescape_unicode(line));
      budget_.give_back(2 * line.size());
      return true;
    }
    case op::kGet:
      push_memo(take_key());
      return true;
    case op::kPut:
      memoize(take_key(), top());
      return true;
    default:
      return false;
  }
}

std::uint64_t Machine::take_key() {
  const auto key = parse_decimal(take_line());
  if (!key || key->is_negative || key->is_huge) fail("an entry of the memo is named here in a way that cannot be read");
  return key->magnitude;
}

void Machine::push_decimal(std::string_view text) {
  const auto decimal = parse_decimal(text);
  if (!decimal) fail("a number stands here that cannot be read: " + shown(text));
  const std::uint64_t n = decimal->magnitude;
  const bool fits = !decimal->is_huge && (!decimal->is_negative || n <= std::uint64_t{1} << 63);
  if (!fits) return push_value({Kind::kHuge, 0});
  push_value(decimal->is_negative ? heap_.of_integer(static_cast<std::int64_t>(0 - n)) : heap_.of_unsigned(n));
}

void Machine::refuse(std::uint8_t opcode) {
  std::string name;
  if (opcode == op::kGlobal || opcode == op::kInst) {
    const std::string_view module = take_line();
    name = shown(module) + "." + shown(take_line());
  } else if (opcode == op::kStackGlobal && stack_.size() >= 2) {
    const Value module = stack_[stack_.size() - 2], attribute = stack_.back();
    if (module.is(Kind::kText) && attribute.is(Kind::kText))
      name = shown(texts_[module.index()]) + "." + shown(texts_[attribute.index()]);
  }
  const bool is_checkpoint =
      name.starts_with("torch.") || name.starts_with("collections.") || name.starts_with("numpy");
  fail("the file asks to run code (" + std::string(op::name_of_code(opcode)) + (name.empty() ? "" : " ") + name +
           "); nothing of it was run. A memory snapshot is data alone",
       is_checkpoint
           ? "this looks like tensors or a model; give the file that torch.cuda.memory._dump_snapshot() wrote"
           : "do not load this file with pickle; give the file that torch.cuda.memory._dump_snapshot() wrote");
}

void Machine::fail(std::string message, std::string hint) const {
  throw FormatError(std::move(message), offset(), path(), std::move(hint));
}

}  // namespace gapless
