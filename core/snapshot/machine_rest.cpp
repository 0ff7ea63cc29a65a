// The machine's rarer opcodes: other scalars and containers, operands on lines as protocol 0 writes them, and those
// that are refused.
#include <bit>
#include <cstdio>

#include "snapshot/escapes.h"
#include "snapshot/machine.h"
#include "snapshot/opcodes.h"

namespace gapless {

void Machine::run_other(std::uint8_t opcode) {
  if (run_scalar(opcode) || run_container(opcode) || run_stack(opcode) || run_line(opcode)) return;
  if (op::name_of_code(opcode)) refuse(opcode);
  char hex[8];
  std::snprintf(hex, sizeof hex, "0x%02x", opcode);
  fault(std::string("the byte ") + hex + " is no pickle opcode", "the file is damaged, or is no pickle at all");
}

// clang-format off
bool Machine::run_scalar(std::uint8_t opcode) {
  switch (opcode) {
    case op::kNone:           stack_.push({Kind::kNone, 0});                             return true;
    case op::kNewTrue:        stack_.push(Value::of_bool(true));                         return true;
    case op::kNewFalse:       stack_.push(Value::of_bool(false));                        return true;
    case op::kLong4:          push_long(input_.number<std::uint32_t>());                 return true;
    case op::kBinUnicode:     push_text(input_.text(input_.number<std::uint32_t>()));    return true;
    case op::kBinUnicode8:    push_text(input_.text(input_.number<std::uint64_t>()));    return true;
    case op::kShortBinString: push_text(input_.text(input_.number<std::uint8_t>()));     return true;
    case op::kBinString:      push_text(input_.text(input_.number<std::uint32_t>()));    return true;
    case op::kShortBinBytes:  input_.take(input_.number<std::uint8_t>());                break;
    case op::kBinBytes:       input_.take(input_.number<std::uint32_t>());               break;
    case op::kBinBytes8:      input_.take(input_.number<std::uint64_t>());               break;
    case op::kByteArray8:     input_.take(input_.number<std::uint64_t>());               break;
    case op::kBinFloat: {
      std::uint64_t bits = 0;
      for (int i = 0; i < 8; ++i) bits = bits << 8 | input_.number<std::uint8_t>();  // the one big-endian operand
      stack_.push(heap_.of_float(std::bit_cast<double>(bits)));
      return true;
    }
    default: return false;
  }
  stack_.push({Kind::kBytes, 0});
  return true;
}

bool Machine::run_container(std::uint8_t opcode) {
  switch (opcode) {
    case op::kAppend:     append(stack_.first_of(1));                                return true;
    case op::kAddItems:   append(stack_.pop_mark());                                 return true;
    case op::kSetItem:    set_items(stack_.first_of(2));                             return true;
    case op::kTuple:      push_tuple(stack_.pop_mark());                             return true;
    case op::kEmptyTuple: push_tuple(stack_.first_of(0));                            return true;
    case op::kTuple1:     push_tuple(stack_.first_of(1));                            return true;
    case op::kTuple3:     push_tuple(stack_.first_of(3));                            return true;
    case op::kList:       push_filled(stack_.pop_mark(), Kind::kEmptyList);          return true;
    case op::kFrozenSet:  push_filled(stack_.pop_mark(), Kind::kEmptyList);          return true;
    case op::kDict:       push_filled(stack_.pop_mark(), Kind::kEmptyDict);          return true;
    case op::kEmptySet:   stack_.push(heap_.new_object({Kind::kEmptyList, 0}));      return true;
    default: return false;
  }
}

bool Machine::run_stack(std::uint8_t opcode) {
  switch (opcode) {
    case op::kBinPut:     memo_.put(input_.number<std::uint8_t>(), stack_.top());    return true;
    case op::kLongBinPut: memo_.put(input_.number<std::uint32_t>(), stack_.top());   return true;
    case op::kPopMark:    stack_.cut(stack_.pop_mark());                             return true;
    case op::kDup:        stack_.push(stack_.top());                                 return true;
    case op::kFrame:      input_.take(8);  /* a hint for readers of files */         return true;
    case op::kPop:
      if (stack_.is_at_mark()) stack_.pop_mark(); else stack_.pop();
      return true;
    case op::kProto: {
      const int protocol = input_.number<std::uint8_t>();
      if (protocol <= op::kProtocolMax) return true;
      fault("the pickle says it is of protocol " + std::to_string(protocol) + "; protocols up to 5 exist",
            "the file is damaged, or is no pickle at all");
    }
    default: return false;
  }
}
// clang-format on

void Machine::push_filled(std::size_t first, Kind empty) {
  const Value object = heap_.new_object({empty, 0});
  const std::span<const Value> items = stack_.from(first);
  if (empty == Kind::kEmptyDict && items.size() % 2 != 0) fault("the pickle sets a key without a value");
  settle(items, empty == Kind::kEmptyDict ? 2 : 1);
  heap_.extend(object, items, offset());
  stack_.cut(first);
  stack_.push(object);
}

bool Machine::run_line(std::uint8_t opcode) {
  switch (opcode) {
    case op::kInt: {
      const std::string_view line = input_.line();
      const bool is_bool = line == "00" || line == "01";
      is_bool ? stack_.push(Value::of_bool(line == "01")) : push_decimal(line);
      return true;
    }
    case op::kLong: {
      const std::string_view line = input_.line();
      push_decimal(line.substr(0, line.size() - line.ends_with('L')));
      return true;
    }
    case op::kFloat: {
      const auto number = parse_double(input_.line());
      if (!number) fault("a number stands here that cannot be read");
      stack_.push(heap_.of_float(*number));
      return true;
    }
    case op::kString: {
      const std::string_view line = input_.line();
      const Loan loan(budget_, line.size());
      const auto text = unquote(line);
      if (!text) fault("a string stands here without its quotes");
      push_text(*text);
      return true;
    }
    case op::kUnicode: {
      const std::string_view line = input_.line();
      const Loan loan(budget_, 2 * line.size());
      push_text(unescape_unicode(line));
      return true;
    }
    case op::kGet:
      stack_.push(memo_.get(key_of_line()));
      return true;
    case op::kPut:
      memo_.put(key_of_line(), stack_.top());
      return true;
    default:
      return false;
  }
}

std::uint64_t Machine::key_of_line() {
  const auto key = parse_decimal(input_.line());
  if (!key || key->is_negative || key->is_huge) fault("an entry of the memo is named here that cannot be read");
  return key->magnitude;
}

void Machine::push_decimal(std::string_view text) {
  const auto decimal = parse_decimal(text);
  if (!decimal) fault("a number stands here that cannot be read: " + shown(text));
  const std::uint64_t n = decimal->magnitude;
  const bool fits = !decimal->is_huge && (!decimal->is_negative || n <= std::uint64_t{1} << 63);
  if (!fits) return stack_.push({Kind::kHuge, 0});
  stack_.push(decimal->is_negative ? heap_.of_integer(static_cast<std::int64_t>(0 - n)) : heap_.of_unsigned(n));
}

void Machine::refuse(std::uint8_t opcode) {
  std::string name;
  const std::span<const Value> values = stack_.values();
  if (opcode == op::kGlobal || opcode == op::kInst) {
    name = " " + shown(input_.line()) + ".";
    name += shown(input_.line());
  } else if (opcode == op::kStackGlobal && values.size() >= 2) {
    const Value module = values[values.size() - 2], attribute = values.back();
    if (module.is(Kind::kText) && attribute.is(Kind::kText))
      name = " " + shown(texts_[module.index()]) + "." + shown(texts_[attribute.index()]);
  }
  const bool is_data = name.starts_with(" torch.") || name.starts_with(" collections.") || name.starts_with(" numpy");
  fault("the file asks to run code (" + std::string(op::name_of_code(opcode)) + name +
            "); nothing of it was run. A memory snapshot is data alone",
        is_data ? "this looks like tensors or a model; give the file that torch.cuda.memory._dump_snapshot() wrote"
                : "do not load this file with pickle; give the file that torch.cuda.memory._dump_snapshot() wrote");
}

}  // namespace gapless
