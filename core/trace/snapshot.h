// A Snapshot is what one recording says, before anything is concluded from it: per device the events and the segments
// at the moment of the dump, and the settings in force. Readers make it; everything else only reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "trace/event.h"
#include "trace/stacks.h"

namespace gapless {

enum class BlockState : std::uint8_t { kFree, kAllocated, kPending };

// A cut of a segment. Blocks tile their segment in order of address.
struct Block {
  Address address;
  Bytes size;       // real bytes, rounded
  Bytes requested;  // bytes asked for; meaningless while free
  std::uint32_t stack;
  BlockState state;
};

// What the device gave in one go; an expandable segment appears once for each run of mapped bytes.
struct Segment {
  Address address;
  Bytes size;
  std::uint32_t first_block;  // its blocks: DeviceState::blocks[first_block] ... block_count of them
  std::uint32_t block_count;
  std::uint32_t stack;   // of its creation; kNoStack when not recorded
  std::uint16_t stream;  // index into Snapshot::streams
  std::uint16_t pool;    // index into Snapshot::pools; kUnknownPool before 2.1
  bool is_small;         // of the pool for requests up to 1 MiB
  bool is_expandable;
};

// Segments in order of address, with their blocks.
struct DeviceState {
  std::vector<Segment> segments;
  std::vector<Block> blocks;
};

struct DeviceRecording {
  int device = 0;
  Events events;      // oldest first
  DeviceState state;  // at the dump
};

using PoolId = std::pair<std::uint64_t, std::uint64_t>;  // (0, 0) is the default pool

struct Snapshot {
  std::vector<DeviceRecording> devices;  // those with a segment or an event, in order of device
  Stacks stacks;
  std::vector<std::uint64_t> streams{0};  // handles; index 0 is the default stream
  std::vector<PoolId> pools{{0, 0}};      // index 0 is the default pool
  std::vector<std::string> keys;          // dictionary keys seen, as "event.time_us": they tell the release
  std::string settings_json;              // allocator_settings as a JSON object; empty when absent
  std::string annotations_json;           // external_annotations as a JSON array; empty when absent
  std::size_t trace_lists = 0;            // lists in device_traces, those without an event included
  bool is_segment_list = false;           // the bare list that torch.cuda.memory_snapshot() returns
};

}  // namespace gapless
