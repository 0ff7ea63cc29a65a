// A set of addresses, kept as ranges that do not touch.
#pragma once

#include <map>

#include "card/address_ranges.h"

namespace gapless::card {

class RangeSet {
 public:
  void add(Address begin, Bytes size);
  void remove(Address begin, Bytes size);
  bool contains(Address begin, Bytes size) const;  // all of it

 private:
  std::map<Address, Address> ranges_;  // begin -> end
};

}  // namespace gapless::card
