#include "embedding/graph/onnx_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "embedding/graph/protobuf.h"

namespace latebind::embedding {
namespace {

using core::ElementType;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::int64_t kIrVersion = 9;
constexpr std::int64_t kOpset = 20;

int onnx_type(ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return 1;
    case ElementType::kI32:
      return 6;
    case ElementType::kI64:
      return 7;
    case ElementType::kBool:
      return 9;
    case ElementType::kF16:
      return 10;
    case ElementType::kBF16:
      return 16;
    default:
      return 0;
  }
}

ProtobufMessage int_attribute(std::string_view name, std::int64_t value) {
  ProtobufMessage attribute;
  attribute.add_bytes(1, name);
  attribute.add_int(3, value);
  attribute.add_int(20, 2);
  return attribute;
}

ProtobufMessage ints_attribute(std::string_view name, std::span<const std::int64_t> values) {
  ProtobufMessage attribute;
  attribute.add_bytes(1, name);
  for (const std::int64_t value : values)
    attribute.add_int(8, value);
  attribute.add_int(20, 7);
  return attribute;
}

ProtobufMessage float_attribute(std::string_view name, float value) {
  ProtobufMessage attribute;
  attribute.add_bytes(1, name);
  attribute.add_float(2, value);
  attribute.add_int(20, 1);
  return attribute;
}

ProtobufMessage string_attribute(std::string_view name, std::string_view value) {
  ProtobufMessage attribute;
  attribute.add_bytes(1, name);
  attribute.add_bytes(4, value);
  attribute.add_int(20, 3);
  return attribute;
}

// Bytes of ours, then bytes that lie elsewhere: a message that is written without being gathered in memory first.
struct Piece {
  std::string head;
  std::span<const std::byte> tail;
};

class OnnxGraphWriter {
 public:
  // An empty location: weights are written into the model.
  OnnxGraphWriter(const Graph& graph, std::string_view location) : graph_(graph), location_(location) {}

  Status write();
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  [[nodiscard]] std::uint64_t size() const;

 private:
  using Attributes = std::initializer_list<ProtobufMessage>;
  using Names = std::initializer_list<std::string_view>;

  Status count_uses();
  Status write_node(const Node& node);
  Status write_matmul(const Node& node);
  void write_value(unsigned field, const Node& node, std::string_view name);
  void write_tensor(std::string_view name, ElementType type, std::span<const std::int64_t> shape,
                    std::span<const std::byte> bytes, const std::uint64_t* file_offset);
  void emit(std::string_view type, Names inputs, std::string_view output, Attributes attributes = {});
  // The name of an initializer that holds these numbers.
  std::string numbers(std::span<const std::int64_t> values);
  [[nodiscard]] std::string_view name_of(Value value) const;
  // True for a transposition that write_matmul merges with its own.
  [[nodiscard]] bool merges(const Node& matmul) const;

  const Graph& graph_;
  std::string_view location_;
  std::vector<unsigned> uses_;
  std::set<std::string> numbers_written_;
  ProtobufMessage graph_message_;
  std::vector<Piece> pieces_;
};

bool OnnxGraphWriter::merges(const Node& matmul) const {
  return matmul.op == Operator::kMatMul && matmul.transpose_b &&
         graph_.node(matmul.inputs[1]).op == Operator::kTranspose;
}

Status OnnxGraphWriter::count_uses() {
  uses_.assign(graph_.nodes().size(), 0);
  ++uses_[graph_.output().node];
  const auto nodes = graph_.nodes();
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (nodes[i].op == Operator::kInput) ++uses_[i];
    if (uses_[i] == 0) continue;
    for (const Value input : nodes[i].inputs) {
      const bool merged = merges(nodes[i]) && input.node == nodes[i].inputs[1].node;
      ++uses_[merged ? graph_.node(input).inputs[0].node : input.node];
    }
  }
  return {};
}

std::string_view OnnxGraphWriter::name_of(Value value) const {
  if (value.node == graph_.output().node) return graph_.output_name();
  return graph_.node(value).name;
}

std::string OnnxGraphWriter::numbers(std::span<const std::int64_t> values) {
  std::string name = fmt::format("i64[{}]", fmt::join(values, ","));
  if (numbers_written_.insert(name).second) {
    const auto count = static_cast<std::int64_t>(values.size());
    write_tensor(name, ElementType::kI64, std::span(&count, 1), std::as_bytes(values), nullptr);
  }
  return name;
}

void OnnxGraphWriter::emit(std::string_view type, Names inputs, std::string_view output, Attributes attributes) {
  ProtobufMessage node;
  for (const std::string_view input : inputs)
    node.add_bytes(1, input);
  node.add_bytes(2, output);
  node.add_bytes(3, output);
  node.add_bytes(4, type);
  for (const ProtobufMessage& attribute : attributes)
    node.add_message(5, attribute);
  graph_message_.add_message(1, node);
}

void OnnxGraphWriter::write_value(unsigned field, const Node& node, std::string_view name) {
  ProtobufMessage shape;
  for (std::size_t i = 0; i < node.shape.size(); ++i) {
    ProtobufMessage dim;
    if (node.shape[i] >= 0) {
      dim.add_int(1, node.shape[i]);
    } else {
      dim.add_bytes(2, i == 0 ? "batch" : "tokens");
    }
    shape.add_message(1, dim);
  }
  ProtobufMessage tensor;
  tensor.add_int(1, onnx_type(node.type));
  tensor.add_message(2, shape);
  ProtobufMessage type;
  type.add_message(1, tensor);
  ProtobufMessage value;
  value.add_bytes(1, name);
  value.add_message(2, type);
  graph_message_.add_message(field, value);
}

void OnnxGraphWriter::write_tensor(std::string_view name, ElementType type, std::span<const std::int64_t> shape,
                                   std::span<const std::byte> bytes, const std::uint64_t* file_offset) {
  ProtobufMessage tensor;
  for (const std::int64_t dim : shape)
    tensor.add_int(1, dim);
  tensor.add_int(2, onnx_type(type));
  tensor.add_bytes(8, name);
  if (file_offset != nullptr && !location_.empty()) {
    const auto entry = [&](std::string_view key, std::string_view value) {
      ProtobufMessage message;
      message.add_bytes(1, key);
      message.add_bytes(2, value);
      tensor.add_message(13, message);
    };
    entry("location", location_);
    entry("offset", fmt::format("{}", *file_offset));
    entry("length", fmt::format("{}", bytes.size()));
    tensor.add_int(14, 1);
    graph_message_.add_message(5, tensor);
    return;
  }
  if (file_offset == nullptr) {
    // Small, and perhaps the caller's temporary.
    tensor.add_bytes(9, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    graph_message_.add_message(5, tensor);
    return;
  }
  tensor.add_head(9, bytes.size());
  graph_message_.add_head(5, tensor.bytes().size() + bytes.size());
  pieces_.push_back({.head = graph_message_.bytes() + tensor.bytes(), .tail = bytes});
  graph_message_ = {};
}

Status OnnxGraphWriter::write_matmul(const Node& node) {
  const std::string_view a = name_of(node.inputs[0]);
  std::string b(name_of(node.inputs[1]));
  if (node.transpose_b) {
    std::string transposed = fmt::format("{}_b", node.name);
    if (merges(node)) {
      const Node& inner = graph_.node(node.inputs[1]);
      std::vector<std::int64_t> permutation = inner.axes;
      std::swap(permutation[permutation.size() - 2], permutation[permutation.size() - 1]);
      emit("Transpose", {name_of(inner.inputs[0])}, transposed, {ints_attribute("perm", permutation)});
    } else {
      // Weights are matrices. Runtimes transpose them once, when they load the model.
      emit("Transpose", {b}, transposed, {ints_attribute("perm", std::vector<std::int64_t>{1, 0})});
    }
    b = std::move(transposed);
  }
  emit("MatMul", {a, b}, name_of(Value{static_cast<std::uint32_t>(&node - graph_.nodes().data())}));
  return {};
}

Status OnnxGraphWriter::write_node(const Node& node) {
  const Value self{static_cast<std::uint32_t>(&node - graph_.nodes().data())};
  const std::string_view out = name_of(self);
  const auto in = [&](std::size_t i) { return name_of(node.inputs[i]); };
  const auto reduce = [&](std::string_view type) {
    emit(type, {in(0), numbers(node.axes)}, out, {int_attribute("keepdims", node.keep_dimensions ? 1 : 0)});
  };
  switch (node.op) {
    case Operator::kInput:
      write_value(11, node, node.name);
      break;
    case Operator::kWeight:
      write_tensor(node.name, node.type, node.shape, node.bytes, &node.offset);
      break;
    case Operator::kConstant:
      write_tensor(node.name, node.type, node.shape, node.bytes, nullptr);
      break;
    case Operator::kConvert:
      emit("Cast", {in(0)}, out, {int_attribute("to", onnx_type(node.type))});
      break;
    case Operator::kGather:
      emit("Gather", {in(0), in(1)}, out, {int_attribute("axis", node.axis)});
      break;
    case Operator::kGatherRow:
      emit("GatherND", {in(0), in(1)}, out, {int_attribute("batch_dims", 1)});
      break;
    case Operator::kFirstRows: {
      const std::string count = fmt::format("{}_count", node.name);
      const std::string zero = numbers(std::vector<std::int64_t>{0});
      emit("Shape", {in(1)}, count, {int_attribute("start", 1), int_attribute("end", 2)});
      emit("Slice", {in(0), zero, count, zero}, out);
      break;
    }
    case Operator::kAdd:
      emit("Add", {in(0), in(1)}, out);
      break;
    case Operator::kSubtract:
      emit("Sub", {in(0), in(1)}, out);
      break;
    case Operator::kMultiply:
      emit("Mul", {in(0), in(1)}, out);
      break;
    case Operator::kDivide:
      emit("Div", {in(0), in(1)}, out);
      break;
    case Operator::kMaximum:
      emit("Max", {in(0), in(1)}, out);
      break;
    case Operator::kMatMul:
      return write_matmul(node);
    case Operator::kReshape:
      emit("Reshape", {in(0), numbers(node.axes)}, out);
      break;
    case Operator::kTranspose:
      emit("Transpose", {in(0)}, out, {ints_attribute("perm", node.axes)});
      break;
    case Operator::kUnsqueeze:
      emit("Unsqueeze", {in(0), numbers(node.axes)}, out);
      break;
    case Operator::kSqueeze:
      emit("Squeeze", {in(0), numbers(node.axes)}, out);
      break;
    case Operator::kSoftmax:
      emit("Softmax", {in(0)}, out, {int_attribute("axis", -1)});
      break;
    case Operator::kLayerNorm:
      emit("LayerNormalization", {in(0), in(1), in(2)}, out,
           {int_attribute("axis", -1), float_attribute("epsilon", static_cast<float>(node.epsilon))});
      break;
    case Operator::kGeluErf:
      emit("Gelu", {in(0)}, out);
      break;
    case Operator::kGeluTanh:
      emit("Gelu", {in(0)}, out, {string_attribute("approximate", "tanh")});
      break;
    case Operator::kRelu:
      emit("Relu", {in(0)}, out);
      break;
    case Operator::kReduceSum:
      reduce("ReduceSum");
      break;
    case Operator::kReduceMax:
      reduce("ReduceMax");
      break;
    case Operator::kReduceL2:
      reduce("ReduceL2");
      break;
  }
  return {};
}

std::uint64_t OnnxGraphWriter::size() const {
  std::uint64_t total = 0;
  for (const Piece& piece : pieces_)
    total += piece.head.size() + piece.tail.size();
  return total;
}

Status OnnxGraphWriter::write() {
  LB_RETURN_IF_ERROR(count_uses());
  graph_message_.add_bytes(2, "latebind");
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    if (uses_[i] > 0) LB_RETURN_IF_ERROR(write_node(graph_.nodes()[i]));
  }
  Node output;
  output.type = graph_.node(graph_.output()).type;
  output.shape = graph_.output_shape();
  write_value(12, output, graph_.output_name());
  pieces_.push_back({.head = graph_message_.bytes(), .tail = {}});

  ProtobufMessage opset;
  opset.add_bytes(1, "");
  opset.add_int(2, kOpset);
  ProtobufMessage model;
  model.add_int(1, kIrVersion);
  model.add_bytes(2, "latebind");
  model.add_bytes(3, LATEBIND_VERSION);
  model.add_message(8, opset);
  model.add_head(7, size());
  pieces_.insert(pieces_.begin(), {.head = model.bytes(), .tail = {}});
  return {};
}

}  // namespace

Result<std::string> write_onnx(const Graph& graph, std::string_view location) {
  OnnxGraphWriter writer(graph, location);
  LB_RETURN_IF_ERROR(writer.write());
  std::string model;
  model.reserve(writer.size());
  for (const Piece& piece : writer.pieces()) {
    model += piece.head;
    model.append(reinterpret_cast<const char*>(piece.tail.data()), piece.tail.size());
  }
  return model;
}

Status write_onnx(const Graph& graph, platform::OutputFile& file) {
  OnnxGraphWriter writer(graph, "");
  LB_RETURN_IF_ERROR(writer.write());
  if (writer.size() > std::numeric_limits<std::int32_t>::max()) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("the model needs {} bytes as one ONNX file, the format allows 2 GiB", writer.size()));
  }
  for (const Piece& piece : writer.pieces()) {
    LB_RETURN_IF_ERROR(file.write(piece.head));
    LB_RETURN_IF_ERROR(file.write(piece.tail));
  }
  return {};
}

}  // namespace latebind::embedding
