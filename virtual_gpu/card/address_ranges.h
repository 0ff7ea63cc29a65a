// Free address ranges of the pretend device, and the model by which new ranges are chosen.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <random>

#include "card/settings.h"

namespace gapless::card {

using Address = std::uint64_t;

class AddressRanges {
 public:
  AddressRanges(Address begin, Bytes size, AddressModel model);

  std::optional<Address> take(Bytes size, Bytes alignment);
  void give_back(Address begin, Bytes size);

 private:
  using Free = std::map<Address, Bytes>;

  std::optional<Address> lowest(Bytes size, Bytes alignment);
  std::optional<Address> highest(Bytes size, Bytes alignment);
  std::optional<Address> never_used(Bytes size, Bytes alignment);
  std::optional<Address> anywhere(Bytes size, Bytes alignment);
  std::optional<Address> next_recorded(Bytes size);
  bool take_at(Address begin, Bytes size);
  void cut(Free::iterator range, Address begin, Bytes size);

  Address begin_;
  Bytes size_;
  AddressModel model_;
  Address unused_;
  Free free_;  // begin -> size
  std::mt19937_64 random_;
  std::FILE* recorded_ = nullptr;
};

}  // namespace gapless::card
