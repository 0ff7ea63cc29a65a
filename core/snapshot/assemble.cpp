#include "snapshot/assemble.h"

#include <algorithm>
#include <map>

#include "snapshot/device_state.h"
#include "snapshot/escapes.h"
#include "snapshot/fault.h"
#include "snapshot/faults.h"
#include "snapshot/json_text.h"

namespace gapless {
namespace {

constexpr std::size_t kDeviceMax = 0xFFFF;
constexpr const char* kGive = "give the file that torch.cuda.memory._dump_snapshot() wrote";

template <class T>
void gather(std::span<const Value> list, const Heap& heap, const std::vector<T>& from, std::vector<T>& to,
            Budget& budget) {
  reserve(to, list.size(), budget);
  for (const Value item : list) to.push_back(from[heap.resolve(item).index()]);
}

class Assembler {
 public:
  Assembler(Heap& heap, Texts& texts, Rows& rows, Budget& budget, std::uint64_t end)
      : heap_(heap), texts_(texts), rows_(rows), budget_(budget), faults_(heap, texts, end) {}

  Snapshot assemble(Value root) {
    const Value is = heap_.resolve(root);
    if (is.is(Kind::kDict) || is.is(Kind::kEmptyDict)) {
      read_top(is);
    } else if (is.is(Kind::kList) || is.is(Kind::kEmptyList)) {
      snapshot_.is_segment_list = true;
      read_segments(is, "");
    } else {
      faults_.fail("", "is " + faults_.describe(root) + ", not a dictionary", kGive);
    }
    for (auto& [device, recording] : devices_) push(snapshot_.devices, std::move(recording), budget_);
    snapshot_.keys = rows_.keys.names(texts_);
    snapshot_.streams = rows_.streams.take();
    snapshot_.pools = rows_.pools.take();
    snapshot_.stacks = rows_.stacks.take(texts_.take_strings());
    return std::move(snapshot_);
  }

 private:
  void read_top(Value dict) {
    std::optional<Value> segments, traces;
    const std::span<const Value> pairs = heap_.contents(dict);
    for (std::size_t i = 0; i < pairs.size(); i += 2) {
      rows_.keys.see(Scope::kTop, pairs[i]);
      const std::uint32_t key = pairs[i].is(Kind::kText) ? pairs[i].index() : kNoText;
      if (key == word::segments) segments = pairs[i + 1];
      if (key == word::device_traces) traces = pairs[i + 1];
      if (key == word::allocator_settings) read_settings(pairs[i + 1]);
      if (key == word::external_annotations) read_annotations(pairs[i + 1]);
    }
    if (!segments && !traces) {
      const bool has_name = !pairs.empty() && pairs[0].is(Kind::kText);
      const std::string first = has_name ? " (its first key is " + shown(texts_[pairs[0].index()]) + ")" : "";
      faults_.fail("", "is a dictionary with neither segments nor device_traces" + first, kGive);
    }
    if (segments) read_segments(*segments, "segments");
    if (traces) read_traces(*traces);
  }

  void read_settings(Value value) {
    const Value is = heap_.resolve(value);
    if (!is.is(Kind::kDict) && !is.is(Kind::kEmptyDict))
      faults_.fail("allocator_settings", "is " + faults_.describe(value) + ", not a dictionary");
    const std::span<const Value> pairs = heap_.contents(is);
    for (std::size_t i = 0; i < pairs.size(); i += 2) rows_.keys.see(Scope::kSettings, pairs[i]);
    snapshot_.settings_json = json_of(value, "allocator_settings");
  }

  void read_annotations(Value value) {
    faults_.list_at(value, "external_annotations");
    snapshot_.annotations_json = json_of(value, "external_annotations");
  }

  std::string json_of(Value value, const std::string& path) const {
    try {
      return to_json(value, heap_, texts_, budget_);
    } catch (const Fault& fault) {
      faults_.fail(path, fault.message);
    }
  }

  DeviceRecording& recording_of(int device) {
    const auto [at, is_new] = devices_.try_emplace(device);
    if (is_new) budget_.take(2 * sizeof(DeviceRecording) + 64);
    at->second.device = device;
    return at->second;
  }

  void read_segments(Value value, const std::string& path) {
    const std::span<const Value> list = heap_.contents(faults_.list_at(value, path));
    for (auto& [device, state] : read_device_states(list, path, heap_, rows_, faults_, budget_))
      recording_of(device).state = std::move(state);
  }

  void read_traces(Value value) {
    const std::span<const Value> lists = heap_.contents(faults_.list_at(value, "device_traces"));
    snapshot_.trace_lists = lists.size();
    const auto path_of = [](std::size_t device) { return "device_traces[" + std::to_string(device) + "]"; };
    std::size_t filled = 0;
    for (std::size_t device = 0; device < lists.size(); ++device)
      filled += !heap_.contents(faults_.list_at(lists[device], path_of(device))).empty();
    for (std::size_t device = 0; device < lists.size(); ++device) {
      const std::span<const Value> list = heap_.contents(heap_.resolve(lists[device]));
      if (list.empty()) continue;
      if (device > kDeviceMax) faults_.fail(path_of(device), "is the list of a device beyond 65535");
      const bool in_order = check_events(list, path_of(device));
      Events& events = recording_of(static_cast<int>(device)).events;
      if (in_order && filled == 1 && list.size() == rows_.events.count())
        events = std::move(rows_.events);
      else
        copy_events(list, events);
    }
  }

  // Whether the list holds the rows 0, 1, 2, ..., so that they need not be copied.
  bool check_events(std::span<const Value> list, const std::string& path) {
    bool in_order = true;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Value is = heap_.resolve(list[i]);
      if (!is.is(Kind::kEvent)) faults_.fail_row(list[i], Kind::kEvent, path + "[" + std::to_string(i) + "]", rows_);
      in_order &= is.index() == i;
    }
    return in_order;
  }

  void copy_events(std::span<const Value> list, Events& events) {
    const Events& all = rows_.events;
    gather(list, heap_, all.action, events.action, budget_);
    gather(list, heap_, all.address, events.address, budget_);
    gather(list, heap_, all.size, events.size, budget_);
    gather(list, heap_, all.time_us, events.time_us, budget_);
    gather(list, heap_, all.stack, events.stack, budget_);
    gather(list, heap_, all.stream, events.stream, budget_);
    gather(list, heap_, all.pool, events.pool, budget_);
    gather(list, heap_, all.compile_context, events.compile_context, budget_);
    gather(list, heap_, all.user_metadata, events.user_metadata, budget_);
  }

  Heap& heap_;
  Texts& texts_;
  Rows& rows_;
  Budget& budget_;
  Faults faults_;
  Snapshot snapshot_;
  std::map<int, DeviceRecording> devices_;
};

}  // namespace

Snapshot assemble(Value root, Heap& heap, Texts& texts, Rows& rows, Budget& budget, std::uint64_t end) {
  return Assembler(heap, texts, rows, budget, end).assemble(root);
}

}  // namespace gapless
