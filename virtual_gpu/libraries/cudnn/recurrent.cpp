// Recurrent layers: the sizes of weights, workspace and reserve.
//
// Weights stand gate after gate: for each layer and direction the input's and the hidden state's matrices, then the
// projections, then the biases.
#include "abi/cudnn.h"
#include "libraries/cudnn/descriptors.h"

using namespace gapless;
using cudnn::TensorDescriptor;

namespace {

struct Layers {
  int cell, bias, direction, data_type, input, hidden, projection, count;

  int gates() const { return cell == abi::kRnnLstm ? 4 : cell == abi::kRnnGru ? 3 : 1; }
  int directions() const { return direction == abi::kRnnBidirectional ? 2 : 1; }
  int output() const { return projection != 0 ? projection : hidden; }
};

struct Sequence {
  int data_type, longest, batch, features;
};

struct Part {
  bool exists = false;
  std::size_t begin = 0;
  int rows = 0, columns = 0;
};

struct Weights {
  std::size_t bytes = 0;
  Part matrix, bias;  // of the layer and gate that were asked for
};

Weights weights(const Layers& layers, int wanted_layer, int wanted_gate) {
  const int gates = layers.gates(), hidden = layers.hidden, output = layers.output();
  const std::size_t element = cudnn::bytes_of_element(layers.data_type);
  const int stacked = layers.count * layers.directions();
  Weights w;
  const auto add = [&](int layer, int gate, Part& part, int rows, int columns) {
    if (layer == wanted_layer && gate == wanted_gate) part = {true, w.bytes, rows, columns};
    w.bytes += static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * element;
  };
  for (int layer = 0; layer < stacked; ++layer) {
    const int input = layer >= layers.directions() ? output * layers.directions() : layers.input;
    for (int gate = 0; gate < 2 * gates; ++gate) add(layer, gate, w.matrix, hidden, gate < gates ? input : output);
  }
  for (int layer = 0; output != hidden && layer < stacked; ++layer) add(layer, 2 * gates, w.matrix, output, hidden);
  for (int layer = 0; layers.bias != abi::kRnnNoBias && layer < stacked; ++layer) {
    for (int gate = 0; gate < 2 * gates; ++gate) add(layer, gate, w.bias, hidden, 1);
  }
  return w;
}

void describe(const Part& part, int data_type, const void* begin, TensorDescriptor* descriptor, void** address) {
  if (descriptor == nullptr || address == nullptr) return;
  *descriptor = {};
  descriptor->data_type = data_type;
  *address = nullptr;
  if (!part.exists) return;
  descriptor->dimensions = 3;
  const int sizes[] = {1, part.rows, part.columns}, strides[] = {part.rows * part.columns, part.columns, 1};
  for (int i = 0; i < 3; ++i) {
    descriptor->sizes[i] = sizes[i];
    descriptor->strides[i] = strides[i];
  }
  *address = const_cast<char*>(static_cast<const char*>(begin)) + part.begin;
}

}  // namespace

GAPLESS_API int cudnnSetRNNDescriptor_v8(Layers* layers, int, int cell, int bias, int direction, int, int data_type,
                                         int, int, std::int32_t input, std::int32_t hidden, std::int32_t projection,
                                         std::int32_t count, void*, std::uint32_t) {
  *layers = {cell, bias, direction, data_type, input, hidden, projection, count};
  return 0;
}
GAPLESS_API int cudnnGetRNNWeightSpaceSize(void*, const Layers* layers, std::size_t* size) {
  *size = weights(*layers, -1, -1).bytes;
  return 0;
}
GAPLESS_API int cudnnGetRNNWeightParams(void*, const Layers* layers, std::int32_t layer, std::size_t, const void* begin,
                                        std::int32_t gate, TensorDescriptor* matrix, void** matrix_address,
                                        TensorDescriptor* bias, void** bias_address) {
  const Weights w = weights(*layers, layer, gate);
  describe(w.matrix, layers->data_type, begin, matrix, matrix_address);
  describe(w.bias, layers->data_type, begin, bias, bias_address);
  return 0;
}
GAPLESS_API int cudnnSetRNNDataDescriptor(Sequence* sequence, int data_type, int, int longest, int batch, int features,
                                          const std::int32_t*, void*) {
  *sequence = {data_type, longest, batch, features};
  return 0;
}
// What a training pass keeps for its backward: each gate, the cell's state and its output, at every step.
GAPLESS_API int cudnnGetRNNTempSpaceSizes(void*, const Layers* layers, int mode, const Sequence* sequence,
                                          std::size_t* workspace, std::size_t* reserve) {
  const std::size_t state = static_cast<std::size_t>(sequence->longest) * static_cast<std::size_t>(sequence->batch) *
                            static_cast<std::size_t>(layers->hidden * layers->directions() * layers->count) *
                            cudnn::bytes_of_element(layers->data_type);
  const auto gates = static_cast<std::size_t>(layers->gates());
  if (workspace != nullptr) *workspace = state * gates;
  if (reserve != nullptr) *reserve = mode == abi::kRnnTraining ? state * (gates + 2) : 0;
  return 0;
}
GAPLESS_API int cudnnDropoutGetStatesSize(void*, std::size_t* size) {
  *size = 1 << 20;
  return 0;
}
