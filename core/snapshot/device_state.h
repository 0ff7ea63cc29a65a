// The segments and blocks of one recording, by device, in order of address.
#pragma once

#include <map>
#include <span>
#include <string>

#include "snapshot/faults.h"
#include "snapshot/heap.h"
#include "snapshot/rows.h"
#include "trace/snapshot.h"

namespace gapless {

// `list`: segments. `path`: of the list, for messages. Throws FormatError where a segment is no segment, its blocks do
// not tile it, or two segments of a device overlap.
std::map<int, DeviceState> read_device_states(std::span<const Value> list, const std::string& path, const Heap& heap,
                                              Rows& rows, const Faults& faults, Budget& budget);

}  // namespace gapless
