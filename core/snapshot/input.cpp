#include "snapshot/input.h"

#include <algorithm>

namespace gapless {
namespace {

constexpr std::size_t kBufferBytesFirst = 4 << 10;
constexpr std::size_t kBufferBytes = 256 << 10;  // stays in the cache between the source and its use

}  // namespace

std::string_view Input::line() {
  const void* newline = nullptr;
  for (std::uint64_t searched = 0; !newline; searched = buffered()) {
    if (searched == buffered() && !fetch()) fault_cut("the file ends inside a line");
    newline = std::memchr(at_ + searched, '\n', buffered() - searched);
  }
  const std::string_view line = text(static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(newline) - at_));
  ++at_;
  return line;
}

void Input::need(std::uint64_t n) {
  const std::uint64_t offset = passed_ + static_cast<std::uint64_t>(at_ - begin_);
  const bool can_come = source_ && (size_ == kUnknown || (offset <= size_ && n <= size_ - offset));
  while (can_come && buffered() < n && fetch()) {
  }
  if (buffered() >= n) return;
  std::uint64_t left = buffered();
  if (source_ && !can_come) left = size_ - std::min(size_, offset);
  fault_cut("the file ends inside a value: " + std::to_string(n) + " bytes are due, " + std::to_string(left) +
            " are left");
}

bool Input::fetch() {
  if (!source_) return false;
  if (2 * static_cast<std::size_t>(end_ - begin_) >= buffer_.size()) make_room_behind();
  const auto filled = static_cast<std::size_t>(end_ - begin_);
  const std::size_t got = source_->read(std::span(buffer_).subspan(filled));
  end_ += got;
  if (size_ == kUnknown) budget_->allow_for(got);
  return got > 0;
}

// Moves what the present opcode has read to the front, so that offset() stays true. The buffer grows while that is half
// of it, so that a long value is moved a few times and not once for each piece.
void Input::make_room_behind() {
  const auto kept = static_cast<std::size_t>(end_ - opcode_at_);
  const auto taken = static_cast<std::size_t>(at_ - opcode_at_);
  passed_ += static_cast<std::uint64_t>(opcode_at_ - begin_);
  if (kept > 0) std::memmove(buffer_.data(), opcode_at_, kept);
  if (2 * kept >= buffer_.size() || buffer_.size() < kBufferBytes) {
    const std::size_t size = std::max(2 * buffer_.size(), kBufferBytesFirst);
    reserve(buffer_, size, *budget_);
    buffer_.resize(size);
  }
  begin_ = opcode_at_ = buffer_.data();
  at_ = begin_ + taken;
  end_ = begin_ + kept;
}

}  // namespace gapless
