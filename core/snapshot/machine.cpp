#include "snapshot/machine.h"

#include "snapshot/opcodes.h"

namespace gapless {

// clang-format off
Value Machine::run() {
  for (;;) {
    const std::uint8_t opcode = input_.next_opcode();
    switch (opcode) {
      case op::kBinGet:          stack_.push(memo_.get(input_.number<std::uint8_t>()));                break;
      case op::kLongBinGet:      stack_.push(memo_.get(input_.number<std::uint32_t>()));               break;
      case op::kBinInt1:         stack_.push(Value::of_int(input_.number<std::uint8_t>()));            break;
      case op::kBinInt2:         stack_.push(Value::of_int(input_.number<std::uint16_t>()));           break;
      case op::kBinInt:          stack_.push(Value::of_int(input_.number<std::int32_t>()));            break;
      case op::kLong1:           push_long(input_.number<std::uint8_t>());                             break;
      case op::kShortBinUnicode: push_text(input_.text(input_.number<std::uint8_t>()));                break;
      case op::kMark:            stack_.push_mark();                                                   break;
      case op::kMemoize:         memo_.put_next(stack_.top());                                         break;
      case op::kEmptyDict:       stack_.push(heap_.new_object({Kind::kEmptyDict, 0}));                 break;
      case op::kEmptyList:       stack_.push(heap_.new_object({Kind::kEmptyList, 0}));                 break;
      case op::kSetItems:        set_items(stack_.pop_mark());                                         break;
      case op::kAppends:         append(stack_.pop_mark());                                            break;
      case op::kTuple2:          push_tuple(stack_.first_of(2));                                       break;
      case op::kStop:            return stack_.pop();
      default:                   run_other(opcode);
    }
  }
}
// clang-format on

void Machine::finish() {
  stack_.clear();
  memo_.clear();
}

// What goes into a container is whole: a dictionary of a row becomes the row.
void Machine::settle(std::span<const Value> values, std::size_t step) {
  for (std::size_t i = step - 1; i < values.size(); i += step) {
    if (values[i].is(Kind::kObject) && heap_.resolve(values[i]).is(Kind::kDict)) rows_.settle(values[i]);
  }
}

void Machine::append(std::size_t first) {
  const Value list = stack_.owner_below(first);
  settle(stack_.from(first), 1);  // before the look: what goes in may hold the list itself
  const Value is = heap_.resolve(list);
  if (!list.is(Kind::kObject) || !(is.is(Kind::kEmptyList) || is.is(Kind::kList)))
    fault("the pickle appends to something that is no list, or is one that was used before");
  heap_.extend(list, stack_.from(first), offset());
  stack_.cut(first);
}

void Machine::set_items(std::size_t first) {
  const Value dict = stack_.owner_below(first);
  const std::span<const Value> pairs = stack_.from(first);
  settle(pairs, 2);
  const Value is = heap_.resolve(dict);
  if (!dict.is(Kind::kObject) || !(is.is(Kind::kEmptyDict) || is.is(Kind::kDict)))
    fault("the pickle sets a key of something that is no dictionary, or is one that was used before");
  if (pairs.size() % 2 != 0) fault("the pickle sets a key without a value");
  Problem ignored;
  const bool is_whole = is.is(Kind::kEmptyDict) && pairs.size() > 2;
  if (const auto row = is_whole ? rows_.make_row(pairs, ignored) : std::nullopt) {
    heap_.redefine(dict, *row);
  } else {
    heap_.extend(dict, pairs, offset());
  }
  stack_.cut(first);
}

void Machine::push_tuple(std::size_t first) {
  const std::span<const Value> items = stack_.from(first);
  const auto is_small = [](Value v) { return v.is(Kind::kInt) && v.integer() >= 0 && v.integer() >> kPairBits == 0; };
  Value tuple;
  if (items.size() == 2 && is_small(items[0]) && is_small(items[1])) {
    tuple = {Kind::kPair, items[0].payload() << kPairBits | items[1].payload()};
  } else {
    settle(items, 1);
    tuple = heap_.new_tuple(items, offset());
  }
  stack_.cut(first);
  stack_.push(tuple);
}

// Little-endian two's complement of any length.
void Machine::push_long(std::uint64_t length) {
  const std::uint8_t* bytes = input_.take(length);
  if (length >= 1 && length <= 7 && input_.buffered() + length >= 8) [[likely]] {
    std::uint64_t word;
    std::memcpy(&word, bytes, 8);
    const int beyond = static_cast<int>(64 - 8 * length);  // bits of what follows
    return stack_.push(Value::of_int(static_cast<std::int64_t>(word << beyond) >> beyond));
  }
  const std::uint8_t sign = length > 0 && bytes[length - 1] >= 0x80 ? 0xFF : 0x00;
  std::uint64_t low = sign ? ~std::uint64_t{0} : 0;
  std::memcpy(&low, bytes, std::min<std::uint64_t>(length, 8));
  bool fits = !sign || low >> 63 != 0;
  for (std::uint64_t i = 8; i < length; ++i) fits &= bytes[i] == sign;
  if (!fits) return stack_.push({Kind::kHuge, 0});
  stack_.push(sign ? heap_.of_integer(static_cast<std::int64_t>(low)) : heap_.of_unsigned(low));
}

}  // namespace gapless
