// Snapshot and its columns in Python: read-only numpy views of the C++ vectors, which live as long as a view does.
#include "trace/snapshot.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings.h"
#include "columns.h"
#include "snapshot/read_snapshot.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace gapless {
namespace {

nb::object segments_of(nb::handle_t<DeviceState> self) {
  static_assert(sizeof(bool) == 1);
  return structured<DeviceState>(nb::cast<const DeviceState&>(self).segments, self,
                                 {{"address", "u8", offsetof(Segment, address)},
                                  {"size", "u8", offsetof(Segment, size)},
                                  {"first_block", "u4", offsetof(Segment, first_block)},
                                  {"block_count", "u4", offsetof(Segment, block_count)},
                                  {"stack", "u4", offsetof(Segment, stack)},
                                  {"stream", "u2", offsetof(Segment, stream)},
                                  {"pool", "u2", offsetof(Segment, pool)},
                                  {"is_small", "?", offsetof(Segment, is_small)},
                                  {"is_expandable", "?", offsetof(Segment, is_expandable)}});
}

nb::object blocks_of(nb::handle_t<DeviceState> self) {
  static_assert(sizeof(BlockState) == 1);
  return structured<DeviceState>(nb::cast<const DeviceState&>(self).blocks, self,
                                 {{"address", "u8", offsetof(Block, address)},
                                  {"size", "u8", offsetof(Block, size)},
                                  {"requested", "u8", offsetof(Block, requested)},
                                  {"stack", "u4", offsetof(Block, stack)},
                                  {"state", "u1", offsetof(Block, state)}});
}

// No file or function has a longer name and no program a deeper stack; a damaged or hostile file may, and repeat them.
constexpr std::size_t kNameBytesMost = 4096, kFramesMost = 4096;

// A name as it is, or its two ends, cut between characters.
std::string shortened(const std::string& text) {
  if (text.size() <= kNameBytesMost) return text;
  const std::string gap = "...";
  const auto continues = [&text](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
  const std::size_t kept = kNameBytesMost - gap.size();
  std::size_t head = kept - kept / 2, tail = text.size() - kept / 2;
  while (head > 0 && continues(head)) --head;
  while (tail < text.size() && continues(tail)) ++tail;
  return text.substr(0, head) + gap + text.substr(tail);
}

std::vector<nb::tuple> frames_of(const Stacks& stacks, std::size_t stack) {
  if (stack >= stacks.count()) throw nb::index_error("no such stack");
  const std::size_t begin = stacks.begin[stack], end = stacks.begin[stack + 1];
  std::vector<nb::tuple> frames;
  for (std::size_t i = begin; i < std::min(end, begin + kFramesMost); ++i) {
    const Frame& frame = stacks.frames[stacks.frame_of[i]];
    frames.push_back(
        nb::make_tuple(shortened(stacks.strings[frame.file]), frame.line, shortened(stacks.strings[frame.function])));
  }
  return frames;
}

// Holds a buffer of Python for as long as it is read.
class Buffer {
 public:
  explicit Buffer(nb::handle source) {
    if (PyObject_GetBuffer(source.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::span<const std::uint8_t> bytes() const {
    return {static_cast<const std::uint8_t*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_;
};

Snapshot read(nb::handle source) {
  const Buffer buffer(source);
  nb::gil_scoped_release unlocked;
  return read_snapshot(buffer.bytes());
}

// Pulls the bytes out of a Python object that has readinto(), like a file.
class PythonSource : public Source {
 public:
  explicit PythonSource(nb::handle stream) : readinto_(stream.attr("readinto")) {}

  std::size_t read(std::span<std::uint8_t> into) override {
    nb::gil_scoped_acquire locked;
    const nb::object view = nb::steal(PyMemoryView_FromMemory(reinterpret_cast<char*>(into.data()),
                                                              static_cast<Py_ssize_t>(into.size()), PyBUF_WRITE));
    const Release release{view};
    const auto count = nb::cast<std::size_t>(readinto_(view));
    if (count > into.size()) throw nb::value_error("readinto() says that it read more than there was room for");
    return count;
  }

 private:
  // Whoever kept the view finds it closed.
  struct Release {
    nb::handle view;
    ~Release() { Py_XDECREF(PyObject_CallMethod(view.ptr(), "release", nullptr)); }
  };

  nb::object readinto_;
};

Snapshot read_stream(nb::handle stream, std::optional<std::uint64_t> size) {
  PythonSource source(stream);
  nb::gil_scoped_release unlocked;
  return read_snapshot(source, size.value_or(Input::kUnknown));
}

void bind_events(nb::module_& m) {
  nb::class_<Events> events(m, "Events", "Columns of equal length, one row an event, oldest first.");
  def_column<std::uint8_t>(events, "action", &Events::action, "def action(self) -> numpy.typing.NDArray[numpy.uint8]",
                           "Index into ACTIONS.");
  def_column<std::uint64_t>(events, "address", &Events::address,
                            "def address(self) -> numpy.typing.NDArray[numpy.uint64]",
                            "oom: the device's free bytes; snapshot: 0.");
  def_column<std::uint64_t>(events, "size", &Events::size, "def size(self) -> numpy.typing.NDArray[numpy.uint64]",
                            "Bytes; see core/trace/event.h for which.");
  def_column<std::int64_t>(events, "time_us", &Events::time_us,
                           "def time_us(self) -> numpy.typing.NDArray[numpy.int64]",
                           "Since the epoch; NO_TIME when not recorded.");
  def_column<std::uint32_t>(events, "stack", &Events::stack, "def stack(self) -> numpy.typing.NDArray[numpy.uint32]",
                            "Index into Stacks; NO_STACK when not recorded.");
  def_column<std::uint16_t>(events, "stream", &Events::stream, "def stream(self) -> numpy.typing.NDArray[numpy.uint16]",
                            "Index into Snapshot.streams.");
  def_column<std::uint16_t>(events, "pool", &Events::pool, "def pool(self) -> numpy.typing.NDArray[numpy.uint16]",
                            "Index into Snapshot.pools, or UNKNOWN_POOL.");
  def_column<std::uint32_t>(events, "compile_context", &Events::compile_context,
                            "def compile_context(self) -> numpy.typing.NDArray[numpy.uint32]",
                            "Index into Stacks.strings; NO_TEXT when not recorded.");
  def_column<std::uint32_t>(events, "user_metadata", &Events::user_metadata,
                            "def user_metadata(self) -> numpy.typing.NDArray[numpy.uint32]",
                            "Index into Stacks.strings; NO_TEXT when not recorded.");
  events.def("__len__", &Events::count);
}

void bind_stacks(nb::module_& m) {
  nb::class_<Stacks>(m, "Stacks", "Stacks of frames, each distinct one once, innermost frame first.")
      .def("__len__", &Stacks::count)
      .def("frames_of", &frames_of, "stack"_a, nb::sig("def frames_of(self, stack: int) -> list[tuple[str, int, str]]"),
           "The frames as (file, line, function), innermost first.")
      .def(
          "string",
          [](const Stacks& stacks, std::size_t id) {
            if (id >= stacks.strings.size()) throw nb::index_error("no such string");
            return stacks.strings[id];
          },
          "id"_a, "The text that a column names by its index.");
}

}  // namespace

void bind_snapshot(nb::module_& m) {
  m.attr("ACTIONS") = nb::make_tuple("alloc", "free_requested", "free_completed", "segment_alloc", "segment_free",
                                     "segment_map", "segment_unmap", "oom", "snapshot", "annotate");
  m.attr("BLOCK_STATES") = nb::make_tuple("free", "allocated", "pending");
  m.attr("NO_STACK") = kNoStack;
  m.attr("FRAMES_MOST") = kFramesMost;
  m.attr("NAME_BYTES_MOST") = kNameBytesMost;
  m.attr("NO_TEXT") = kNoText;
  m.attr("NO_TIME") = kNoTime;
  m.attr("UNKNOWN_POOL") = kUnknownPool;
  bind_events(m);
  bind_stacks(m);
  nb::class_<DeviceState>(m, "DeviceState", "Segments in order of address, with their blocks.")
      .def_prop_ro("segments", &segments_of, nb::sig("def segments(self) -> numpy.typing.NDArray[numpy.void]"),
                   "Structured array; blocks first_block .. first_block + block_count.")
      .def_prop_ro("blocks", &blocks_of, nb::sig("def blocks(self) -> numpy.typing.NDArray[numpy.void]"),
                   "Structured array; state is an index into BLOCK_STATES.");
  nb::class_<DeviceRecording>(m, "DeviceRecording", "What is recorded of one device.")
      .def_ro("device", &DeviceRecording::device)
      .def_ro("events", &DeviceRecording::events)
      .def_ro("state", &DeviceRecording::state, "At the dump.");
  nb::class_<Snapshot> snapshot(m, "Snapshot", "What one recording says, before anything is concluded from it.");
  snapshot
      .def_prop_ro(
          "devices",
          [](nb::handle_t<Snapshot> self) {
            nb::list devices;
            for (const DeviceRecording& device : nb::cast<const Snapshot&>(self).devices)
              devices.append(nb::cast(&device, nb::rv_policy::reference_internal, self));
            return devices;
          },
          nb::sig("def devices(self) -> list[DeviceRecording]"), "Those with a segment or an event.")
      .def_ro("stacks", &Snapshot::stacks)
      .def_ro("pools", &Snapshot::pools, "Pool ids; index 0 is the default pool (0, 0).")
      .def_ro("keys", &Snapshot::keys, "Keys seen, as event.time_us, sorted.")
      .def_ro("settings_json", &Snapshot::settings_json, "allocator_settings; empty when absent.")
      .def_ro("annotations_json", &Snapshot::annotations_json, "external_annotations; empty when absent.")
      .def_ro("trace_lists", &Snapshot::trace_lists, "Lists in device_traces, empty ones included.")
      .def_ro("is_segment_list", &Snapshot::is_segment_list, "The bare list of memory_snapshot().");
  def_column<std::uint64_t>(snapshot, "streams", &Snapshot::streams,
                            "def streams(self) -> numpy.typing.NDArray[numpy.uint64]",
                            "Handles; index 0 is the default stream.");
  m.def("read_snapshot", &read, "buffer"_a,
        nb::sig("def read_snapshot(buffer: bytes | bytearray | memoryview) -> Snapshot"),
        "The snapshot in the bytes of a pickle. Raises FormatError.");
  m.def("read_snapshot_stream", &read_stream, "stream"_a, "size"_a.none(),
        "The snapshot in what stream.readinto() yields: size bytes, None when unknown. Raises FormatError.");
}

}  // namespace gapless
