// PyTorch's CUDA caching allocator, decision for decision, over any Device.
//
// One malloc: round the request, look for the smallest free block of its lane, else ask the device for a segment (or
// map pages), else give cached memory back and ask again, else report out of memory. One free: the block joins its free
// neighbours and waits in its lane for the next request. docs/concepts explains it with drawings.
//
// It reads no clock, file or environment, and never throws on a request: out of memory is a result. Equal calls give
// equal decisions. Where PyTorch itself runs into undefined behaviour the allocator says so (undefined()) and what
// follows means nothing.
//
// Sources: malloc.cpp, free.cpp, lanes.cpp (free blocks, creation order), release.cpp (giving back), expandable.cpp
// (mapping), private_pools.cpp (scopes).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "allocator/block_table.h"
#include "allocator/decision.h"
#include "allocator/flat_hash_order.h"
#include "allocator/pools.h"
#include "allocator/release_rules.h"
#include "allocator/settings.h"
#include "allocator/sizes.h"
#include "allocator/statistics.h"
#include "device/device.h"
#include "trace/event.h"
#include "trace/snapshot.h"

namespace gapless {

// What a full release does to frees that wait for other streams: it may reorder or remove them (a recording knows
// better).
class SynchronizeHook {
 public:
  virtual ~SynchronizeHook() = default;
  virtual void on_synchronize(std::vector<BlockIndex>& completed) = 0;
};

class CachingAllocator {
 public:
  CachingAllocator(Release release, Device& device);
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  // ---- what a program calls
  Placement malloc(Bytes requested, StreamIndex stream);                       // in the open scope's pool, if any
  Placement malloc_in(Bytes requested, StreamIndex stream, OwnerIndex owner);  // in a stated pool
  void free(BlockIndex block);
  void record_stream(BlockIndex block, StreamIndex stream);
  bool empty_cache();  // false where PyTorch stops with an internal assertion
  void configure(const AllocatorSettings& settings);
  void set_memory_fraction(double fraction);  // in [0, 1]
  void set_limit(std::optional<Bytes> bytes) { limit_ = bytes; }

  // ---- frees whose completion somebody else knows (a recording)
  void free_deferred(BlockIndex block);  // free_requested only
  void complete(BlockIndex block);       // REQUIRES: deferred and not completed
  void set_synchronize_hook(SynchronizeHook* hook) { hook_ = hook; }
  void set_events_ready(bool ready) { events_ready_ = ready; }

  // ---- private pools and allocation scopes; false where PyTorch stops with an internal assertion
  OwnerIndex owner(std::pair<std::uint64_t, std::uint64_t> id);  // its row, made on first use
  bool create_pool(OwnerIndex owner);
  bool begin_scope(OwnerIndex owner, StreamIndex stream = 0);
  bool end_scope(OwnerIndex owner);
  bool release_pool(OwnerIndex owner);
  bool empty_pool(OwnerIndex owner);
  void let_go(OwnerIndex owner);  // a recording knows that the pool is used no more: a full release covers it
  void set_use_on_oom(OwnerIndex owner);
  void set_no_split(OwnerIndex owner);
  void set_capturing(bool capturing) { capturing_ = capturing; }

  // ---- a start in the middle: segments that exist already. Blocks are added left to right.
  struct StartSegment {
    Address address;
    Bytes size;  // of an expandable segment: the whole reservation
    StreamIndex stream;
    OwnerIndex owner;
    bool is_small;
    bool is_expandable;
  };
  struct StartBlock {
    Bytes size;
    Bytes requested;
    BlockState state;
    bool mapped = true;
  };
  // Returns the index of each block, in order. REQUIRES: the blocks fill the segment.
  std::vector<BlockIndex> adopt_segment(const StartSegment& segment, const std::vector<StartBlock>& blocks);
  void set_stream_handle(StreamIndex stream,
                         std::uint64_t handle);  // before its first use; equal to the index if unset

  // ---- what a recording knows better; not logged, not counted
  // Gives each creation number up to rank.size() the number rank[number - 1]: the order of segments at the start.
  void renumber(const std::vector<std::uint32_t>& rank);
  std::uint32_t last_order() const { return last_order_; }
  // Moves an allocation to where it was recorded; false when no free block of its lane holds that place.
  bool move(BlockIndex& block, Address address);

  // ---- what can be seen
  const BlockRow& block(BlockIndex block) const { return blocks_[block]; }
  bool is_small(BlockIndex block) const { return pools_[lanes_[blocks_[block].lane].pool].is_small; }
  StreamIndex stream_of(BlockIndex block) const { return lanes_[blocks_[block].lane].stream; }
  OwnerIndex owner_of(BlockIndex block) const { return pools_[lanes_[blocks_[block].lane].pool].owner; }
  bool would_hit(Bytes requested, StreamIndex stream, OwnerIndex owner);  // a cached block serves that request
  // What a request that finds nothing cached does: wait for other streams, give something back, do so before waiting.
  bool may_synchronize(OwnerIndex owner) const { return !is_captured(owner != kDefaultOwner); }
  bool may_release(OwnerIndex owner) const { return may_release_early() || may_synchronize(owner); }
  bool may_release_early() const { return gc_armed() || settings_.max_split_size != kUnlimited; }
  const Statistics& statistics() const { return statistics_; }
  const AllocatorSettings& settings() const { return settings_; }
  std::optional<Bytes> limit() const { return limit_; }
  Bytes reserved_bytes() const { return total_; }
  bool undefined() const { return undefined_; }
  Bytes largest_free_block() const;
  const std::vector<PoolOwner>& owners() const { return owners_; }

  std::size_t block_rows() const { return blocks_.count(); }
  // The mapped blocks, segment after segment; segments (runs of mapped blocks) in order of address.
  std::vector<BlockIndex> mapped_blocks() const;
  bool is_valid() const;  // all invariants; O(blocks)

  // The decisions since the log was last cleared; null stops logging.
  void set_log(std::vector<Decision>* log) { log_ = log; }

  // The stream's free blocks of a pool, in PyTorch's order; for those who look for a tie.
  const FreeIndex* free_blocks(OwnerIndex owner, bool is_small, StreamIndex stream) const;

 private:
  struct Reservation {
    Address base = 0;
    Bytes size = 0;
    Bytes page = 0;
  };

  // malloc.cpp
  Placement serve(Bytes requested, StreamIndex stream, OwnerIndex owner, bool captured);
  BlockIndex rescue(Request& request);
  bool is_rejected(const Request& request) const;
  BlockIndex search(std::uint32_t lane, Bytes size, bool expandable);
  BlockIndex find_free(const Lane& lane, Bytes size, bool expandable) const;
  BlockIndex least_growable(const Lane& lane, BlockIndex found) const;
  BlockIndex first_ordinary(const Lane& lane, BlockIndex found) const;
  BlockIndex ask_device(const Request& request, bool is_retry);
  Placement fail(const Request& request);
  Placement hand_out(BlockIndex found, const Request& request);
  bool splits(const Request& request, Bytes rest) const;
  BlockIndex split(BlockIndex whole, const Request& request);

  // free.cpp
  void request_free(BlockIndex block);
  void wait_for_completion(BlockIndex block);
  void free_block(BlockIndex block);
  Bytes merge(BlockIndex into, BlockIndex neighbour);
  void poll_events();
  void queue_events(BlockIndex block, const std::vector<StreamIndex>& streams);
  void queue_captured_frees();
  template <typename Concerned>
  void drain_queues(Concerned concerned);
  std::uint64_t hash_of(StreamIndex stream) const;
  void synchronize(OwnerIndex only, bool all);

  // release.cpp
  bool gc_armed() const { return limit_.has_value() && settings_.garbage_collection_threshold > 0; }
  void collect_garbage();
  bool release_available(const Request& request);
  void release_all();
  void release_pool_blocks(std::uint32_t pool);
  void release_segment(BlockIndex block);

  // expandable.cpp
  BlockIndex grow(const Request& request);
  BlockIndex find_room(const Request& request);
  BlockIndex new_reservation(const Request& request);
  bool map_block(BlockIndex block, Bytes size);
  void unmap_block(BlockIndex block);
  void keep_edge(BlockIndex block, Bytes size, bool at_left);

  // private_pools.cpp
  BlockIndex search_overflow(Request& request);
  bool is_captured(bool scoped) const;
  const Scope* scope_for(StreamIndex stream) const;
  void release_freeable_pools();
  bool release_private_pool(OwnerIndex owner);
  bool holds_blocks(const PoolOwner& owner) const;

  // lanes.cpp
  std::uint32_t lane_of(std::uint32_t pool, StreamIndex stream);
  void insert_free(BlockIndex block);
  void erase_free(BlockIndex block);
  void add_unmapped(BlockIndex block);
  void number_new_segment(BlockRow& row);
  void number_new_block(BlockRow& row, const BlockRow& parent);
  void count_reserved(const Pool& pool, std::int64_t change);
  void count_adopted(bool is_small, const std::vector<BlockIndex>& blocks);
  void log(Action action, Address address, Bytes size, const Lane& lane) {
    if (log_ != nullptr) log_->push_back({address, size, lane.stream, pools_[lane.pool].owner, action});
  }
  const Pool& pool_of(const BlockRow& row) const { return pools_[lanes_[row.lane].pool]; }
  PoolOwner& owner_of(const BlockRow& row) { return owners_[pool_of(row).owner]; }
  std::vector<BlockIndex> free_blocks_of(const Pool& pool) const;

  ReleaseRules rules_;
  Device& device_;
  AllocatorSettings settings_;
  std::optional<Bytes> limit_;
  Bytes total_ = 0;  // held from the device
  bool undefined_ = false;
  bool failed_ = false;  // PyTorch stopped with an internal assertion during this call
  bool capturing_ = false;
  bool events_ready_ = true;

  BlockTable blocks_;
  std::vector<Lane> lanes_;
  std::unordered_map<std::uint64_t, std::uint32_t> lane_by_key_;  // pool << 32 | stream
  std::vector<Pool> pools_;
  std::vector<PoolOwner> owners_;  // [0] is the default
  std::map<std::pair<std::uint64_t, std::uint64_t>, OwnerIndex> owner_by_id_;
  std::vector<Scope> scopes_;  // open ones, outermost first
  FlatHashOrder freeable_, use_on_oom_;
  std::vector<Reservation> reservations_;
  std::unordered_map<StreamIndex, std::uint64_t> handles_;
  std::uint32_t last_order_ = 0;

  std::unordered_map<StreamIndex, std::deque<BlockIndex>> queues_;  // frees that wait for side streams
  FlatHashOrder queue_order_;                                       // in which those streams are looked at
  std::unordered_map<BlockIndex, std::vector<StreamIndex>> uses_;
  std::unordered_map<BlockIndex, std::vector<StreamIndex>> capture_uses_;  // those recorded during a capture
  std::vector<BlockIndex> captured_frees_;        // freed during a capture: they get their events after it
  std::map<std::uint64_t, BlockIndex> deferred_;  // waiting for complete(), by when they were freed
  std::unordered_map<BlockIndex, std::uint64_t> deferred_at_;
  std::uint64_t deferred_count_ = 0;
  SynchronizeHook* hook_ = nullptr;

  Statistics statistics_;
  std::vector<Decision>* log_ = nullptr;
};

}  // namespace gapless
