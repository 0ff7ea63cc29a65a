// Pools and lanes. A pool is small or large and belongs to an owner: the default one, or a private pool of a CUDA graph
// or MemPool. Blocks never move between pools nor between streams, so what is searched is a lane: one pool, one stream.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "allocator/block_table.h"
#include "allocator/free_index.h"
#include "allocator/statistics.h"

namespace gapless {

using StreamIndex = std::uint32_t;
using OwnerIndex = std::uint32_t;
constexpr OwnerIndex kDefaultOwner = 0;

struct Lane {
  explicit Lane(BlockTable& blocks) : free(blocks) {}

  std::uint32_t pool = 0;
  StreamIndex stream = 0;
  std::uint64_t handle = 0;  // of the stream; lanes are walked in its order
  FreeIndex free;
  std::map<Address, BlockIndex> unmapped;  // free address ranges of expandable segments
};

struct Pool {
  bool is_small = false;
  OwnerIndex owner = kDefaultOwner;
  std::uint32_t searches = 0;                 // while garbage collection is armed: the clock of ages
  std::vector<std::uint32_t> lanes;           // in order of stream handle
  StreamIndex last_stream = ~StreamIndex{0};  // of the last look-up, and its lane
  std::uint32_t last_lane = 0;
};

// The default pools, or the pools of one graph or MemPool.
struct PoolOwner {
  std::pair<std::uint64_t, std::uint64_t> id{0, 0};
  std::uint32_t small = 0, large = 0;   // its pools
  std::int64_t use_count = 0;           // open scopes, and handles that keep it; at 0 it is freeable
  std::int64_t device_allocations = 0;  // segments it holds, as PyTorch counts them
  bool exists = false;                  // between its creation and the release of its last segment
  bool no_split = false;                // blocks are handed out whole
  PoolStat reserved_bytes;              // outlives the pool

  std::uint64_t hash() const { return id.first != 0 ? id.first : id.second; }
  bool is_freeable() const { return exists && use_count == 0; }
};

// Between its begin and end, requests go to `owner`'s pools.
struct Scope {
  OwnerIndex owner = kDefaultOwner;
  StreamIndex stream = 0;  // the only one concerned, up to 2.2
};

}  // namespace gapless
