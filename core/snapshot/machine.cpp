#include "snapshot/machine.h"

#include <bit>
#include <cstring>

#include "snapshot/opcodes.h"

namespace gapless {

Value Machine::run() {
  while (step()) {
  }
  return pop();
}

bool Machine::step() {
  opcode_at_ = at_;
  if (at_ == end_) fail("the file ends before the pickle does", "it was cut: copy or record it again");
  const std::uint8_t opcode = *at_++;
  switch (opcode) {
    case op::kStop:
      return false;
    case op::kBinGet:
      push_memo(take_number<std::uint8_t>());
      return true;
    case op::kLongBinGet:
      push_memo(take_number<std::uint32_t>());
      return true;
    case op::kBinInt1:
      push_value(Value::of_int(take_number<std::uint8_t>()));
      return true;
    case op::kBinInt2:
      push_value(Value::of_int(take_number<std::uint16_t>()));
      return true;
    case op::kBinInt:
      push_value(Value::of_int(take_number<std::int32_t>()));
      return true;
    case op::kLong1: {
      const std::uint8_t length = take_number<std::uint8_t>();
      push_long(take(length), length);
      return true;
    }
    case op::kShortBinUnicode:
      push_text(take_text(take_number<std::uint8_t>()));
      return true;
    case op::kMark:
      push(marks_, std::uint64_t{stack_.size()}, budget_);
      return true;
    case op::kMemoize:
      memoize(memo_.size(), top());
      return true;
    case op::kEmptyDict:
      push_value(heap_.new_object({Kind::kEmptyDict, 0}));
      return true;
    case op::kSetItems:
      set_items(pop_mark());
      return true;
    case op::kEmptyList:
      push_value(heap_.new_object({Kind::kEmptyList, 0}));
      return true;
    case op::kAppends:
      append(pop_mark());
      return true;
    default:
      break;
  }
  if (step_scalar(opcode) || step_container(opcode) || step_memo(opcode) || step_line(opcode)) return true;
  if (op::name_of_code(opcode)) refuse(opcode);
  char hex[8];
  std::snprintf(hex, sizeof hex, "0x%02x", opcode);
  fail(std::string("the byte ") + hex + " is no pickle opcode", "the file is damaged, or is no pickle at all");
}

bool Machine::step_scalar(std::uint8_t opcode) {
  switch (opcode) {
    case op::kNone:
      push_value({Kind::kNone, 0});
      return true;
    case op::kNewTrue:
      push_value(Value::of_bool(true));
      return true;
    case op::kNewFalse:
      push_value(Value::of_bool(false));
      return true;
    case op::kLong4: {
      const std::uint32_t length = take_number<std::uint32_t>();
      push_long(take(length), length);
      return true;
    }
    case op::kBinFloat: {
      std::uint64_t bits = 0;
      for (const std::uint8_t *byte = take(8), *last = byte + 8; byte != last; ++byte) bits = bits << 8 | *byte;
      push_value(heap_.of_float(std::bit_cast<double>(bits)));
      return true;
    }
    case op::kBinUnicode:
      push_text(take_text(take_number<std::uint32_t>()));
      return true;
    case op::kBinUnicode8:
      push_text(take_text(take_number<std::uint64_t>()));
      return true;
    case op::kShortBinString:
      push_text(take_text(take_number<std::uint8_t>()));
      return true;
    case op::kBinString:
      push_text(take_text(take_number<std::uint32_t>()));
      return true;
    case op::kShortBinBytes:
      take(take_number<std::uint8_t>());
      break;
    case op::kBinBytes:
      take(take_number<std::uint32_t>());
      break;
    case op::kBinBytes8:
      take(take_number<std::uint64_t>());
      break;
    case op::kByteArray8:
      take(take_number<std::uint64_t>());
      break;
    default:
      return false;
  }
  push_value({Kind::kBytes, 0});
  return true;
}

bool Machine::step_container(std::uint8_t opcode) {
  switch (opcode) {
    case op::kAppend:
      append(first_of(1));
      return true;
    case op::kSetItem:
      set_items(first_of(2));
      return true;
    case op::kTuple:
      push_tuple(pop_mark());
      return true;
    case op::kEmptyTuple:
      push_tuple(stack_.size());
      return true;
    case op::kTuple1:
      push_tuple(first_of(1));
      return true;
    case op::kTuple2:
      push_tuple(first_of(2));
      return true;
    case op::kTuple3:
      push_tuple(first_of(3));
      return true;
    case op::kList:
      push_list(pop_mark(), Kind::kEmptyList);
      return true;
    case op::kDict:
      push_list(pop_mark(), Kind::kEmptyDict);
      return true;
    case op::kEmptySet:
      push_value(heap_.new_object({Kind::kEmptyList, 0}));
      return true;
    case op::kAddItems:
      append(pop_mark());
      return true;
    case op::kFrozenSet:
      push_list(pop_mark(), Kind::kEmptyList);
      return true;
    case op::kPop:
      if (!marks_.empty() && marks_.back() == stack_.size())
        marks_.pop_back();
      else
        pop();
      return true;
    case op::kPopMark:
      cut(pop_mark());
      return true;
    case op::kDup:
      push_value(top());
      return true;
    default:
      return false;
  }
}

bool Machine::step_memo(std::uint8_t opcode) {
  switch (opcode) {
    case op::kBinPut:
      memoize(take_number<std::uint8_t>(), top());
      return true;
    case op::kLongBinPut:
      memoize(take_number<std::uint32_t>(), top());
      return true;
    case op::kProto: {
      const int protocol = take_number<std::uint8_t>();
      if (protocol > op::kProtocolMax)
        fail("the pickle says it is of protocol " + std::to_string(protocol) + "; protocols up to 5 exist",
             "the file is damaged, or is no pickle at all");
      return true;
    }
    case op::kFrame: {
      const auto length = take_number<std::uint64_t>();
      if (length > static_cast<std::uint64_t>(end_ - at_))
        fail("a frame of " + std::to_string(length) + " bytes begins here, and the file ends after " +
                 std::to_string(end_ - at_),
             "it was cut: copy or record it again");
      return true;
    }
    default:
      return false;
  }
}

// ---- reading

const std::uint8_t* Machine::take(std::uint64_t n) {
  const auto left = static_cast<std::uint64_t>(end_ - at_);
  if (n > left)
    fail("the file ends inside a value: " + std::to_string(n) + " bytes are due, " + std::to_string(left) + " are left",
         "it was cut: copy or record it again");
  const std::uint8_t* taken = at_;
  at_ += n;
  return taken;
}

template <class T>
T Machine::take_number() {
  static_assert(std::endian::native == std::endian::little, "pickles are little-endian");
  T number;
  std::memcpy(&number, take(sizeof(T)), sizeof(T));
  return number;
}

std::string_view Machine::take_text(std::uint64_t length) {
  const std::uint8_t* bytes = take(length);
  return {reinterpret_cast<const char*>(bytes), length};
}

// ---- the stack

Value Machine::top() const { return stack_[first_of(1)]; }

Value Machine::pop() {
  const Value value = top();
  stack_.pop_back();
  return value;
}

std::size_t Machine::pop_mark() {
  if (marks_.empty()) fail("the pickle closes a container that it did not open");
  const std::size_t mark = marks_.back();
  marks_.pop_back();
  return mark;
}

// Where the last n values begin.
std::size_t Machine::first_of(std::size_t n) const {
  const std::size_t bottom = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() - bottom < n) fail("the pickle takes a value where there is none");
  return stack_.size() - n;
}

// The owner of the values from `first` on lies just below them, above the next mark.
Value Machine::owner_below(std::size_t first) const {
  const bool is_there = first > 0 && first <= stack_.size() && (marks_.empty() || marks_.back() < first);
  if (!is_there) fail("the pickle fills a container that is not there");
  return stack_[first - 1];
}

void Machine::append(std::size_t first) {
  const Value list = owner_below(first);
  const Value is = heap_.resolve(list);
  if (!list.is(Kind::kObject) || !(is.is(Kind::kEmptyList) || is.is(Kind::kList)))
    fail("the pickle appends to something that is no list", "PyTorch writes no such recording");
  for (std::size_t i = first; i < stack_.size(); ++i) rows_.settle(stack_[i]);
  heap_.extend(list, std::span(stack_).subspan(first), offset());
  cut(first);
}

void Machine::set_items(std::size_t first) {
  const Value dict = owner_below(first);
  const Value is = heap_.resolve(dict);
  const std::span<const Value> pairs = std::span(stack_).subspan(first);
  if (!dict.is(Kind::kObject) || !(is.is(Kind::kEmptyDict) || is.is(Kind::kDict)))
    fail("the pickle sets a key of something that is no dictionary, or of one that was used before",
         "PyTorch writes no such recording");
  if (pairs.size() % 2 != 0) fail("the pickle sets a key without a value");
  for (std::size_t i = 1; i < pairs.size(); i += 2) rows_.settle(pairs[i]);
  Problem ignored;
  const bool is_whole = is.is(Kind::kEmptyDict) && pairs.size() > 2;
  if (const auto row = is_whole ? rows_.make_row(pairs, ignored) : std::nullopt) {
    heap_.redefine(dict, *row);
  } else {
    heap_.extend(dict, pairs, offset());
  }
  cut(first);
}

void Machine::push_tuple(std::size_t first) {
  const std::span<const Value> items = std::span(stack_).subspan(first);
  const auto is_small = [](Value v) { return v.is(Kind::kInt) && v.integer() >= 0 && v.integer() >> kPairBits == 0; };
  Value tuple;
  if (items.size() == 2 && is_small(items[0]) && is_small(items[1])) {
    tuple = {Kind::kPair, items[0].payload() << kPairBits | items[1].payload()};
  } else {
    for (const Value item : items) rows_.settle(item);
    tuple = heap_.new_tuple(items, offset());
  }
  cut(first);
  push_value(tuple);
}

void Machine::push_list(std::size_t first, Kind empty) {
  const Value object = heap_.new_object({empty, 0});
  const std::span<const Value> items = std::span(stack_).subspan(first);
  if (empty == Kind::kEmptyDict && items.size() % 2 != 0) fail("the pickle sets a key without a value");
  for (const Value item : items) rows_.settle(item);
  heap_.extend(object, items, offset());
  cut(first);
  push_value(object);
}

// Little-endian two's complement of any length.
void Machine::push_long(const std::uint8_t* bytes, std::uint64_t length) {
  const std::uint8_t sign = length > 0 && bytes[length - 1] >= 0x80 ? 0xFF : 0x00;
  std::uint64_t low = sign ? ~std::uint64_t{0} : 0;
  std::memcpy(&low, bytes, std::min<std::uint64_t>(length, 8));
  for (std::uint64_t i = 8; i < length; ++i) {
    if (bytes[i] != sign) return push_value({Kind::kHuge, 0});
  }
  if (sign && low >> 63 == 0) return push_value({Kind::kHuge, 0});
  push_value(sign ? heap_.of_integer(static_cast<std::int64_t>(low)) : heap_.of_unsigned(low));
}

// ---- the memo

// Writers count keys up from 0 or 1; a key far from the others has a place of its own, so that it costs no room.
void Machine::memoize(std::uint64_t key, Value value) {
  constexpr std::uint64_t kGapMax = 16;
  if (key < memo_.size()) {
    memo_[key] = value;
  } else if (key <= memo_.size() + kGapMax) {
    make_room(memo_, key + 1 - memo_.size(), budget_);
    memo_.resize(key + 1, kAbsent);
    memo_[key] = value;
  } else {
    constexpr Bytes kNodeBytes = 48;
    if (memo_rest_.insert_or_assign(key, value).second) budget_.take(kNodeBytes);
  }
}

void Machine::push_memo(std::uint64_t key) {
  Value value = kAbsent;
  if (key < memo_.size()) {
    value = memo_[key];
  } else if (const auto found = memo_rest_.find(key); found != memo_rest_.end()) {
    value = found->second;
  }
  if (value == kAbsent)
    fail("the pickle refers to entry " + std::to_string(key) + " of its memo, which it did not write");
  push_value(value);
}

void Machine::finish() {
  drop(memo_, budget_);
  drop(stack_, budget_);
  drop(marks_, budget_);
  memo_rest_.clear();
}

}  // namespace gapless
