#include "snapshot/faults.h"

#include "base/error.h"
#include "snapshot/escapes.h"

namespace gapless {
namespace {

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kNone:
      return "None";
    case Kind::kHuge:
      return "an integer beyond 64 bits";
    case Kind::kBytes:
      return "bytes";
    case Kind::kPair:
    case Kind::kTuple:
      return "a tuple";
    case Kind::kEmptyDict:
    case Kind::kDict:
      return "a dictionary";
    case Kind::kEmptyList:
    case Kind::kList:
      return "a list";
    case Kind::kEvent:
      return "an event";
    case Kind::kFrame:
      return "a frame";
    case Kind::kSegment:
      return "a segment";
    case Kind::kBlock:
      return "a block";
    case Kind::kStack:
      return "a list of frames";
    default:
      return "a value";
  }
}

const char* want_of(std::uint32_t key) {
  switch (key) {
    case word::action:
      return "an action of PyTorch's allocator up to 2.14";
    case word::addr:
    case word::address:
      return "an address";
    case word::stream:
      return "a stream (an integer; at most 65534 streams)";
    case word::time_us:
      return "a time in microseconds";
    case word::frames:
      return "a list of frames (each a filename, a name and a line number)";
    case word::history:
      return "a list of the block's allocations";
    case word::pool_id:
    case word::segment_pool_id:
      return "a pool (two integers that are not negative; at most 65534 pools)";
    case word::device:
      return "the number of a device, 0 to 65535";
    case word::segment_type:
      return "'small' or 'large'";
    case word::is_expandable:
      return "True or False";
    case word::blocks:
      return "a list of blocks";
    case word::state:
      return "'active_allocated', 'active_pending_free' or 'inactive'";
    case word::line:
      return "a line number";
    case word::filename:
    case word::name:
    case word::compile_context:
    case word::user_metadata:
      return "a text";
    default:
      return "a number of bytes";
  }
}

}  // namespace

std::string Faults::describe(Value value) const {
  const Value is = heap_.resolve(value);
  switch (is.kind()) {
    case Kind::kBool:
      return is.payload() ? "True" : "False";
    case Kind::kInt:
      return std::to_string(is.integer());
    case Kind::kWide:
      return std::to_string(heap_.wide_bits(is));
    case Kind::kWideMinus:
      return std::to_string(static_cast<std::int64_t>(heap_.wide_bits(is)));
    case Kind::kFloat:
      return std::to_string(heap_.number(is));
    case Kind::kText:
      return std::string("'").append(shown(texts_[is.index()])).append("'");
    default:
      return name_of(is.kind());
  }
}

void Faults::fail(const std::string& path, const std::string& what, const std::string& hint) const {
  throw FormatError((path.empty() ? "the recording" : path) + " " + what, end_, path, hint);
}

void Faults::fail_row(Value value, Kind want, const std::string& path, Rows& rows) const {
  const Value is = heap_.resolve(value);
  Problem problem;
  if (!is.is(Kind::kDict) || rows.make_row(heap_.contents(is), problem) || problem.key == kNoText)
    fail(path, "is " + describe(value) + ", not " + name_of(want));
  const Faults here(heap_, texts_, heap_.run(is).offset);
  if (problem.is_missing) here.fail(path, std::string("has no ") + kWords[problem.key]);
  here.fail(path + "." + kWords[problem.key], "is " + describe(problem.got) + ", not " + want_of(problem.key));
}

Value Faults::list_at(Value value, const std::string& path) const {
  const Value is = heap_.resolve(value);
  if (!is.is(Kind::kList) && !is.is(Kind::kTuple) && !is.is(Kind::kEmptyList))
    fail(path, "is " + describe(value) + ", not a list");
  return is;
}

}  // namespace gapless
