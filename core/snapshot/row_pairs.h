// Reads the pairs of a dictionary whose keys are known words.
#pragma once

#include <span>

#include "snapshot/rows.h"

namespace gapless {

// Reads each pair with a known key; notes the one that `read` refuses.
template <class Read>
inline bool read_pairs(std::span<const Value> pairs, Problem& problem, Read read) {
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    if (!pairs[i].is_text_below(kKeyCount)) continue;
    if (read(pairs[i].index(), pairs[i + 1])) continue;
    problem = {pairs[i].index(), pairs[i + 1], false};
    return false;
  }
  return true;
}

}  // namespace gapless
