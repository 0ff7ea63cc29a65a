#include "allocator/free_index.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/check.h"

namespace gapless {
namespace {

constexpr std::size_t kLongBin = 256;  // a longer bin becomes a tree
constexpr std::size_t kSpreadAt = 96;  // a lane with more blocks gets all bins
constexpr std::uint64_t kLastRank = ~std::uint64_t{0};

}  // namespace

// A digest: a < b implies a.rank() <= b.rank().
//
//      63         40   39   38                              0
//     | 512-byte units | 1 | creation number, or             |
//     | of the size    | 0 | 512-byte units of the address   |
//
// Odd sizes and those of 8 GiB and more have all lower bits set: they only rank by their units.
std::uint64_t FreeIndex::Key::rank() const {
  constexpr std::uint64_t kUnits = (std::uint64_t{1} << 24) - 1;
  constexpr std::uint64_t kTie = (std::uint64_t{1} << 39) - 1;
  const std::uint64_t units = std::min<std::uint64_t>(size / 512, kUnits);
  if (units == kUnits || size % 512 != 0) return units << 40 | kTie << 1 | 1;
  const std::uint64_t numbered = std::uint64_t{order} << 7 | (kTie + 1);
  const std::uint64_t addressed = std::min<std::uint64_t>(address / 512, kTie);
  return units << 40 | (order != 0 ? numbered : addressed);
}

FreeIndex::Key FreeIndex::key_of(BlockIndex block) const {
  const BlockRow& row = (*table_)[block];
  return {row.size, row.order, row.address, block};
}

// ---- one bin

// Looks for the least rank first, which costs no branch, and then for the blocks of that rank: mostly one.
BlockIndex FreeIndex::first_from(const Bin& bin, const Key& key) const {
  if (bin.tree) {
    const auto found = bin.tree->lower_bound(key);
    return found == bin.tree->end() ? kNoBlock : found->block;
  }
  for (std::uint64_t low = key.rank();;) {
    std::uint64_t best = kLastRank;
    for (const std::uint64_t rank : bin.ranks) best = std::min(best, rank >= low ? rank : kLastRank);
    BlockIndex found = kNoBlock;
    for (std::size_t at = 0; at < bin.ranks.size(); ++at) {
      if (bin.ranks[at] != best) continue;
      const Key other = key_of(bin.blocks[at]);
      if (other >= key && (found == kNoBlock || other < key_of(found))) found = other.block;
    }
    if (found != kNoBlock || best == kLastRank) return found;
    low = best + 1;  // those of the key's own rank were all below it
  }
}

BlockIndex FreeIndex::last_below(const Bin& bin, const Key& key) const {
  if (bin.tree) {
    const auto found = bin.tree->lower_bound(key);
    return found == bin.tree->begin() ? kNoBlock : std::prev(found)->block;
  }
  for (std::uint64_t high = key.rank();;) {
    std::uint64_t best = 0;
    for (const std::uint64_t rank : bin.ranks) best = std::max(best, rank <= high ? rank : 0);
    BlockIndex found = kNoBlock;
    for (std::size_t at = 0; at < bin.ranks.size(); ++at) {
      if (bin.ranks[at] != best) continue;
      const Key other = key_of(bin.blocks[at]);
      if (other < key && (found == kNoBlock || other > key_of(found))) found = other.block;
    }
    if (found != kNoBlock || best == 0) return found;
    high = best - 1;
  }
}

void FreeIndex::append_bin(const Bin& bin, std::vector<BlockIndex>& out) const {
  if (bin.tree) {
    for (const Key& key : *bin.tree) out.push_back(key.block);
    return;
  }
  const auto begun = static_cast<std::ptrdiff_t>(out.size());
  out.insert(out.end(), bin.blocks.begin(), bin.blocks.end());
  std::sort(out.begin() + begun, out.end(), [this](BlockIndex a, BlockIndex b) { return key_of(a) < key_of(b); });
}

void FreeIndex::grow_tree(Bin& bin) const {
  bin.tree = std::make_unique<Tree>();
  for (const BlockIndex block : bin.blocks) bin.tree->insert(key_of(block));
  bin.blocks = {};
  bin.ranks = {};
}

// ---- which bin

int FreeIndex::bin_of(Bytes size) const {
  if (bins_.size() == 1) return 0;
  const Bytes units = size / 512;
  if (units < kExactBins) return static_cast<int>(units);
  const int power = static_cast<int>(std::bit_width(units)) - 1;                     // >= 6
  const int step = static_cast<int>((units >> (power - 5)) & (kStepsPerPower - 1));  // the five bits after the first
  return kExactBins + (power - 6) * kStepsPerPower + step;
}

int FreeIndex::next_bin(int from) const {
  int word = from / 64;
  if (word >= kWords) return -1;
  std::uint64_t bits = occupied_[word] & (~std::uint64_t{0} << (from % 64));
  while (bits == 0) {
    if (++word == kWords) return -1;
    bits = occupied_[word];
  }
  return word * 64 + std::countr_zero(bits);
}

int FreeIndex::previous_bin(int from) const {
  if (from < 0) return -1;
  int word = from / 64;
  std::uint64_t bits = occupied_[word] & (~std::uint64_t{0} >> (63 - from % 64));
  while (bits == 0) {
    if (--word < 0) return -1;
    bits = occupied_[word];
  }
  return word * 64 + 63 - std::countl_zero(bits);
}

// ---- all of them

void FreeIndex::spread() {
  const std::vector<BlockIndex> blocks = std::move(bins_[0].blocks);
  bins_ = std::vector<Bin>(kBins);
  occupied_ = {};
  for (const BlockIndex block : blocks) add_to(bin_of((*table_)[block].size), block);
}

void FreeIndex::add_to(int index, BlockIndex block) {
  Bin& bin = bins_[index];
  occupied_[index / 64] |= std::uint64_t{1} << (index % 64);
  if (!bin.tree && bin.blocks.size() >= kLongBin) grow_tree(bin);
  if (bin.tree) {
    bin.tree->insert(key_of(block));
    return;
  }
  (*table_)[block].place = static_cast<std::uint32_t>(bin.blocks.size());
  bin.ranks.push_back(key_of(block).rank());
  bin.blocks.push_back(block);
}

void FreeIndex::insert(BlockIndex block) {
  if (bins_.size() == 1 && count_ >= kSpreadAt) spread();
  add_to(bin_of((*table_)[block].size), block);
  ++count_;
}

void FreeIndex::erase(BlockIndex block) {
  const int index = bin_of((*table_)[block].size);
  Bin& bin = bins_[index];
  if (bin.tree) {
    GAPLESS_CHECK(bin.tree->erase(key_of(block)) == 1);
  } else {  // the last one takes its place
    const std::uint32_t place = (*table_)[block].place;
    GAPLESS_CHECK(place < bin.blocks.size() && bin.blocks[place] == block);
    bin.ranks[place] = bin.ranks.back();
    bin.blocks[place] = bin.blocks.back();
    (*table_)[bin.blocks[place]].place = place;
    bin.ranks.pop_back();
    bin.blocks.pop_back();
  }
  if (bin.empty()) occupied_[index / 64] &= ~(std::uint64_t{1} << (index % 64));
  --count_;
}

BlockIndex FreeIndex::first_at_least(Bytes size) const {
  const Key least{size, 0, 0, 0};
  for (int bin = next_bin(bin_of(size)); bin >= 0; bin = next_bin(bin + 1)) {
    if (const BlockIndex found = first_from(bins_[bin], least); found != kNoBlock) return found;
  }
  return kNoBlock;
}

BlockIndex FreeIndex::next_after(BlockIndex block) const {
  Key above = key_of(block);
  ++above.block;  // the least key above it
  for (int bin = next_bin(bin_of(above.size)); bin >= 0; bin = next_bin(bin + 1)) {
    if (const BlockIndex found = first_from(bins_[bin], above); found != kNoBlock) return found;
  }
  return kNoBlock;
}

BlockIndex FreeIndex::last() const {
  constexpr Key kEnd{~Bytes{0}, ~std::uint32_t{0}, ~Address{0}, kNoBlock};
  const int bin = previous_bin(static_cast<int>(bins_.size()) - 1);
  return bin < 0 ? kNoBlock : last_below(bins_[bin], kEnd);
}

BlockIndex FreeIndex::last_before(BlockIndex block) const {
  const Key key = key_of(block);
  for (int bin = previous_bin(bin_of(key.size)); bin >= 0; bin = previous_bin(bin - 1)) {
    if (const BlockIndex found = last_below(bins_[bin], key); found != kNoBlock) return found;
  }
  return kNoBlock;
}

void FreeIndex::append_to(std::vector<BlockIndex>& out) const {
  for (int bin = next_bin(0); bin >= 0; bin = next_bin(bin + 1)) append_bin(bins_[bin], out);
}

}  // namespace gapless
