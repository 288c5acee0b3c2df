#include "core/graph/onnx_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/graph/lowering.h"
#include "core/graph/onnx_builder.h"
#include "core/graph/onnx_schema.h"
#include "core/graph/onnx_types.h"
#include "core/graph/protobuf.h"

namespace latebind::graph {
namespace {

using core::ElementType;
using core::Shape;
using core::Status;
using core::StatusCode;

constexpr std::int64_t kIrVersion = 9;
constexpr std::int64_t kOpset = 20;

// Its own bytes, then bytes elsewhere, so that a message need not be gathered in memory before it is written.
struct Piece {
  std::string head;
  std::span<const std::byte> tail;
};

class OnnxGraphWriter {
 public:
  // Without locations, weights are written into the model.
  OnnxGraphWriter(const Graph& graph, std::span<const std::string> locations)
      : graph_(graph), network_(lower(graph, {.matmul_transposes = false})), locations_(locations) {}

  void write();
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  [[nodiscard]] std::uint64_t size() const;

  void operator()(const Input& op) { write_value(GraphProto::kInput, op.name, op.type, op.shape); }
  void operator()(const Weight& op);
  void operator()(const primitive::Constant& op);
  void operator()(const primitive::Convert& op) {
    emit("Cast", {name_of(op.x)}, {int_attribute("to", onnx_type(network_.nodes[at_].type))});
  }
  void operator()(const primitive::Gather& op) {
    emit("Gather", {name_of(op.data), name_of(op.indices)}, {int_attribute("axis", op.axis)});
  }
  void operator()(const primitive::GatherRow& op) {
    emit("GatherND", {name_of(op.data), name_of(op.indices)}, {int_attribute("batch_dims", 1)});
  }
  void operator()(const primitive::FirstRows& op);
  void operator()(const primitive::Positions& op);
  void operator()(const primitive::CumulativeSum& op) { emit("CumSum", {name_of(op.x), number(1)}); }
  void operator()(const primitive::IsEqual& op);
  void operator()(const primitive::Binary& op);
  void operator()(const primitive::MatMul& op) { emit("MatMul", {name_of(op.a), name_of(op.b)}); }
  void operator()(const primitive::Convolution& op) {
    const std::int64_t pad = (op.width - 1) / 2;
    emit("Conv", {name_of(op.x), name_of(op.weight)}, {ints_attribute("pads", std::vector{pad, pad})});
  }
  void operator()(const primitive::Reshape& op) { emit("Reshape", {name_of(op.x), numbers(op.shape)}); }
  void operator()(const primitive::Transpose& op) {
    emit("Transpose", {name_of(op.x)}, {ints_attribute("perm", op.permutation)});
  }
  void operator()(const primitive::Unsqueeze& op) { emit("Unsqueeze", {name_of(op.x), numbers(op.axes)}); }
  void operator()(const primitive::Squeeze& op) { emit("Squeeze", {name_of(op.x), numbers(op.axes)}); }
  void operator()(const primitive::Softmax& op) { emit("Softmax", {name_of(op.x)}, {int_attribute("axis", -1)}); }
  void operator()(const primitive::Slice& op) {
    emit("Slice", {name_of(op.x), numbers({op.first}), numbers({op.first + op.count}), numbers({-1})});
  }
  void operator()(const primitive::Concat& op) {
    emit("Concat", {name_of(op.a), name_of(op.b)}, {int_attribute("axis", -1)});
  }
  void operator()(const primitive::KeepLargest& op);
  void operator()(const primitive::LayerNorm& op);
  void operator()(const Activation& op);
  void operator()(const primitive::SquareRoot& op) { emit("Sqrt", {name_of(op.x)}); }
  void operator()(const primitive::Reduce& op);

 private:
  using Attributes = std::initializer_list<ProtobufMessage>;
  using Names = std::initializer_list<std::string>;

  void write_value(unsigned field, std::string_view name, ElementType type, const Shape& shape);
  void add_tensor(const ProtobufMessage& tensor) { graph_message_.add_message(GraphProto::kInitializer, tensor); }
  // Adds a node whose value is that of the current primitive.
  void emit(std::string_view type, Names inputs, Attributes attributes = {}) {
    emit_named(type, inputs, name_of(Value{at_}), attributes);
  }
  void emit_named(std::string_view type, Names inputs, std::string_view output, Attributes attributes);
  // Returns the name of an initializer that holds these numbers, or a single number as a scalar.
  std::string numbers(const std::vector<std::int64_t>& values);
  std::string number(std::int64_t value);
  std::string initializer(std::string name, const Shape& shape, std::span<const std::int64_t> values);
  // Returns the name of a tensor of one dimension with the number of columns.
  std::string columns_of(Value value);
  [[nodiscard]] std::string name_of(Value value) const;

  const Graph& graph_;
  const PrimitiveNetwork network_;
  std::span<const std::string> locations_;
  std::uint32_t at_ = 0;  // the current primitive
  std::set<std::string> numbers_written_;
  ProtobufMessage graph_message_;
  std::vector<Piece> pieces_;
};

std::string OnnxGraphWriter::name_of(Value value) const {
  for (const PrimitiveOutput& output : network_.outputs) {
    if (value.node == output.value.node) return output.name;
  }
  const Primitive& op = network_.node(value).op;
  if (const auto* input = std::get_if<Input>(&op)) return input->name;
  if (const auto* weight = std::get_if<Weight>(&op)) return weight->name;
  return fmt::format("v{}", value.node);
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string OnnxGraphWriter::initializer(std::string name, const Shape& shape, std::span<const std::int64_t> values) {
  if (numbers_written_.insert(name).second) {
    ProtobufMessage tensor = tensor_head(onnx_type(ElementType::kI64), shape.dims(), name);
    tensor.add_bytes(TensorProto::kRawData, text_of(std::as_bytes(values)));
    add_tensor(tensor);
  }
  return name;
}

std::string OnnxGraphWriter::numbers(const std::vector<std::int64_t>& values) {
  return initializer(fmt::format("i64[{}]", fmt::join(values, ",")), Shape{static_cast<std::int64_t>(values.size())},
                     values);
}

std::string OnnxGraphWriter::number(std::int64_t value) {
  return initializer(fmt::format("i64 {}", value), Shape{}, std::span(&value, 1));
}

std::string OnnxGraphWriter::columns_of(Value value) {
  std::string count = fmt::format("v{}_count", at_);
  emit_named("Shape", {name_of(value)}, count, {int_attribute("start", 1), int_attribute("end", 2)});
  return count;
}

void OnnxGraphWriter::emit_named(std::string_view type, Names inputs, std::string_view output, Attributes attributes) {
  const std::string value(output);
  graph_message_.add_message(GraphProto::kNode, node_message(type, inputs, std::span(&value, 1), value, attributes));
}

void OnnxGraphWriter::write_value(unsigned field, std::string_view name, ElementType type, const Shape& shape) {
  std::vector<OnnxDimension> dimensions;
  for (std::size_t i = 0; i < shape.rank(); ++i)
    dimensions.push_back({.size = shape[i], .name = i == 0 ? "batch" : "tokens"});
  graph_message_.add_message(field, value_info(name, onnx_type(type), dimensions));
}

void OnnxGraphWriter::operator()(const Weight& op) {
  ProtobufMessage tensor = tensor_head(onnx_type(op.type), op.shape.dims(), op.name);
  const auto bytes = graph_.bytes_of(op);
  if (!locations_.empty()) {
    add_external_place(tensor, {.location = locations_[op.file], .offset = op.offset, .length = bytes.size()});
    tensor.add_varint(TensorProto::kDataLocation, TensorProto::kExternal);
    add_tensor(tensor);
    return;
  }
  tensor.add_head(TensorProto::kRawData, bytes.size());
  graph_message_.add_head(GraphProto::kInitializer, tensor.bytes().size() + bytes.size());
  pieces_.push_back({.head = graph_message_.bytes() + tensor.bytes(), .tail = bytes});
  graph_message_ = {};
}

void OnnxGraphWriter::operator()(const primitive::Constant& op) {
  ProtobufMessage tensor = tensor_head(onnx_type(op.type), op.shape.dims(), name_of(Value{at_}));
  tensor.add_bytes(TensorProto::kRawData, text_of(op.bytes));
  add_tensor(tensor);
}

void OnnxGraphWriter::operator()(const primitive::FirstRows& op) {
  const std::string count = columns_of(op.like);
  const std::string zero = numbers({0});
  emit("Slice", {name_of(op.table), zero, count, zero});
}

void OnnxGraphWriter::operator()(const primitive::Positions& op) {
  const std::string count = columns_of(op.like);
  const std::string single = fmt::format("v{}_single", at_);
  emit_named("Squeeze", {count, numbers({0})}, single, {});
  emit("Range", {number(0), single, number(1)});
}

void OnnxGraphWriter::operator()(const primitive::IsEqual& op) {
  const std::string equal = fmt::format("v{}_equal", at_);
  emit_named("Equal", {name_of(op.x), name_of(op.number)}, equal, {});
  emit("Cast", {equal}, {int_attribute("to", onnx_type(ElementType::kI64))});
}

void OnnxGraphWriter::operator()(const primitive::Binary& op) {
  const auto write = [&](std::string_view type) { emit(type, {name_of(op.a), name_of(op.b)}); };
  switch (op.function) {
    case primitive::BinaryFunction::kAdd:
      return write("Add");
    case primitive::BinaryFunction::kSubtract:
      return write("Sub");
    case primitive::BinaryFunction::kMultiply:
      return write("Mul");
    case primitive::BinaryFunction::kDivide:
      return write("Div");
    case primitive::BinaryFunction::kMaximum:
      return write("Max");
    case primitive::BinaryFunction::kMinimum:
      return write("Min");
  }
}

void OnnxGraphWriter::operator()(const primitive::KeepLargest& op) {
  const std::vector<std::string> inputs{name_of(op.x), numbers({op.count})};
  const std::vector<std::string> found{fmt::format("v{}_largest", at_), fmt::format("v{}_places", at_)};
  const std::string none = fmt::format("v{}_none", at_);
  const ProtobufMessage last = int_attribute("axis", -1);
  graph_message_.add_message(GraphProto::kNode,
                             node_message("TopK", inputs, found, found.front(), std::span(&last, 1)));
  emit_named("Sub", {name_of(op.x), name_of(op.x)}, none, {});
  emit("ScatterElements", {none, found[1], found[0]}, {int_attribute("axis", -1)});
}

void OnnxGraphWriter::operator()(const primitive::LayerNorm& op) {
  const auto axis = int_attribute("axis", -1);
  const auto epsilon = float_attribute("epsilon", static_cast<float>(op.epsilon));
  if (op.bias) {
    emit("LayerNormalization", {name_of(op.x), name_of(op.weight), name_of(*op.bias)}, {axis, epsilon});
  } else {
    emit("LayerNormalization", {name_of(op.x), name_of(op.weight)}, {axis, epsilon});
  }
}

void OnnxGraphWriter::operator()(const Activation& op) {
  switch (op.function) {
    case ActivationFunction::kGeluErf:
      return emit("Gelu", {name_of(op.x)});
    case ActivationFunction::kGeluTanh:
      return emit("Gelu", {name_of(op.x)}, {string_attribute("approximate", "tanh")});
    case ActivationFunction::kRelu:
      return emit("Relu", {name_of(op.x)});
    case ActivationFunction::kTanh:
      return emit("Tanh", {name_of(op.x)});
    case ActivationFunction::kSilu: {
      const std::string part = fmt::format("v{}_sigmoid", at_);
      emit_named("Sigmoid", {name_of(op.x)}, part, {});
      return emit("Mul", {name_of(op.x), part});
    }
  }
}

void OnnxGraphWriter::operator()(const primitive::Reduce& op) {
  const auto write = [&](std::string_view type) {
    emit(type, {name_of(op.x), numbers(op.axes)}, {int_attribute("keepdims", op.keep_dimensions ? 1 : 0)});
  };
  switch (op.function) {
    case primitive::ReduceFunction::kSum:
      return write("ReduceSum");
    case primitive::ReduceFunction::kMean:
      return write("ReduceMean");
    case primitive::ReduceFunction::kMax:
      return write("ReduceMax");
    case primitive::ReduceFunction::kL2:
      return write("ReduceL2");
  }
}

std::uint64_t OnnxGraphWriter::size() const {
  std::uint64_t total = 0;
  for (const Piece& piece : pieces_)
    total += piece.head.size() + piece.tail.size();
  return total;
}

void OnnxGraphWriter::write() {
  graph_message_.add_bytes(GraphProto::kName, "latebind");
  for (at_ = 0; at_ < network_.nodes.size(); ++at_)
    std::visit(*this, network_.nodes[at_].op);
  for (const PrimitiveOutput& output : network_.outputs)
    write_value(GraphProto::kOutput, output.name, network_.node(output.value).type, output.shape);
  pieces_.push_back({.head = graph_message_.bytes(), .tail = {}});

  pieces_.insert(pieces_.begin(), {.head = model_head(kIrVersion, kOpset, LATEBIND_VERSION, size()), .tail = {}});
}

}  // namespace

std::string write_onnx(const Graph& graph, std::span<const std::string> locations) {
  OnnxGraphWriter writer(graph, locations);
  writer.write();
  std::string model;
  model.reserve(writer.size());
  for (const Piece& piece : writer.pieces()) {
    model += piece.head;
    model += text_of(piece.tail);
  }
  return model;
}

Status write_onnx(const Graph& graph, platform::OutputFile& file) {
  OnnxGraphWriter writer(graph, {});
  writer.write();
  if (writer.size() > std::numeric_limits<std::int32_t>::max()) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("the model needs {} bytes as one ONNX file, but the format allows 2 GiB", writer.size()));
  }
  for (const Piece& piece : writer.pieces()) {
    LB_RETURN_IF_ERROR(file.write(piece.head));
    LB_RETURN_IF_ERROR(file.write(piece.tail));
  }
  return {};
}

}  // namespace latebind::graph
