#include "embedding/graph/openvino_ir_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace latebind::embedding {
namespace {

using core::ElementType;
using core::Result;

// Constants in the tail start at multiples of this.
constexpr std::size_t kAlignment = 64;

std::string_view precision_of(ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return "FP32";
    case ElementType::kF16:
      return "FP16";
    case ElementType::kBF16:
      return "BF16";
    case ElementType::kI32:
      return "I32";
    case ElementType::kBool:
      return "BOOL";
    default:
      return "I64";
  }
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

class IrWriter {
 public:
  IrWriter(const Graph& graph, std::size_t tail_offset) : graph_(graph), tail_offset_(tail_offset) {}

  Result<OpenvinoIr> write();

 private:
  // A layer that has been written, for those that read it.
  struct Layer {
    std::size_t id = 0;
    std::size_t port = 0;  // of its value; inputs are numbered first
    ElementType type = ElementType::kF32;
  };
  using Layers = std::initializer_list<Layer>;

  Layer write_node(const Node& node);
  Layer emit(std::string_view type, std::string_view opset, std::string_view attributes, Layers inputs,
             ElementType output);
  Layer stored(ElementType type, std::span<const std::int64_t> shape, std::size_t offset, std::size_t size);
  Layer constant(ElementType type, std::span<const std::int64_t> shape, std::span<const std::byte> bytes);
  Layer numbers(const std::vector<std::int64_t>& values);
  auto text() { return std::back_inserter(layers_text_); }

  const Graph& graph_;
  const std::size_t tail_offset_;
  std::vector<Layer> layers_;  // by node
  std::map<std::vector<std::int64_t>, Layer> numbers_;
  std::size_t layer_count_ = 0;
  // Of the next layer: what the program calls its value. Inside the network nothing needs a name.
  std::string public_name_;
  std::string layers_text_;
  std::string edges_text_;
  std::string tail_;
};

IrWriter::Layer IrWriter::emit(std::string_view type, std::string_view opset, std::string_view attributes,
                               Layers inputs, ElementType output) {
  const Layer layer{layer_count_++, inputs.size(), output};
  const std::string name = public_name_.empty() ? fmt::format("n{}", layer.id) : escaped(public_name_);
  fmt::format_to(text(), R"(<layer id="{}" name="{}" type="{}" version="{}">)", layer.id, name, type, opset);
  if (!attributes.empty()) fmt::format_to(text(), "<data {}/>", attributes);
  if (inputs.size() > 0) layers_text_ += "<input>";
  std::size_t port = 0;
  for (const Layer& input : inputs) {
    fmt::format_to(text(), R"(<port id="{}" precision="{}"/>)", port, precision_of(input.type));
    fmt::format_to(std::back_inserter(edges_text_),
                   R"(<edge from-layer="{}" from-port="{}" to-layer="{}" to-port="{}"/>)"
                   "\n",
                   input.id, input.port, layer.id, port);
    ++port;
  }
  if (inputs.size() > 0) layers_text_ += "</input>";
  if (type != "Result") {
    fmt::format_to(text(), R"(<output><port id="{}" precision="{}")", port, precision_of(output));
    if (!public_name_.empty()) fmt::format_to(text(), R"( names="{}")", name);
    layers_text_ += "/></output>";
  }
  layers_text_ += "</layer>\n";
  public_name_.clear();
  return layer;
}

IrWriter::Layer IrWriter::stored(ElementType type, std::span<const std::int64_t> shape, std::size_t offset,
                                 std::size_t size) {
  return emit("Const", "opset1",
              fmt::format(R"(element_type="{}" shape="{}" offset="{}" size="{}")", core::name_of(type),
                          fmt::join(shape, ","), offset, size),
              {}, type);
}

IrWriter::Layer IrWriter::constant(ElementType type, std::span<const std::int64_t> shape,
                                   std::span<const std::byte> bytes) {
  tail_.resize((tail_.size() + kAlignment - 1) / kAlignment * kAlignment);
  const std::size_t offset = tail_offset_ + tail_.size();
  tail_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return stored(type, shape, offset, bytes.size());
}

IrWriter::Layer IrWriter::numbers(const std::vector<std::int64_t>& values) {
  const auto known = numbers_.find(values);
  if (known != numbers_.end()) return known->second;
  const std::string name = std::exchange(public_name_, {});
  const auto count = static_cast<std::int64_t>(values.size());
  const Layer layer = constant(ElementType::kI64, std::span(&count, 1), std::as_bytes(std::span(values)));
  public_name_ = name;
  return numbers_[values] = layer;
}

IrWriter::Layer IrWriter::write_node(const Node& node) {
  static constexpr std::string_view kBroadcast = R"(auto_broadcast="numpy")";
  const auto in = [&](std::size_t i) { return layers_[node.inputs[i].node]; };
  const auto elementwise = [&](std::string_view type) {
    return emit(type, "opset1", kBroadcast, {in(0), in(1)}, node.type);
  };
  const auto with_axes = [&](std::string_view type, std::string_view opset, std::string_view attributes) {
    const Layer axes = numbers(node.axes);
    return emit(type, opset, attributes, {in(0), axes}, node.type);
  };
  const auto reduce = [&](std::string_view type, std::string_view opset) {
    return with_axes(type, opset, node.keep_dimensions ? R"(keep_dims="true")" : R"(keep_dims="false")");
  };
  switch (node.op) {
    case Operator::kInput: {
      public_name_ = node.name;
      std::vector<std::string> dims;
      for (const std::int64_t dim : node.shape)
        dims.push_back(dim < 0 ? "?" : fmt::format("{}", dim));
      return emit("Parameter", "opset1",
                  fmt::format(R"(shape="{}" element_type="{}")", fmt::join(dims, ","), core::name_of(node.type)), {},
                  node.type);
    }
    case Operator::kWeight:
      return stored(node.type, node.shape, static_cast<std::size_t>(node.offset), node.bytes.size());
    case Operator::kConstant:
      return constant(node.type, node.shape, node.bytes);
    case Operator::kConvert:
      return emit("Convert", "opset1", fmt::format(R"(destination_type="{}")", core::name_of(node.type)), {in(0)},
                  node.type);
    case Operator::kGather: {
      const Layer axis = numbers({node.axis});
      return emit("Gather", "opset8", R"(batch_dims="0")", {in(0), in(1), axis}, node.type);
    }
    case Operator::kGatherRow:
      return emit("GatherND", "opset8", R"(batch_dims="1")", {in(0), in(1)}, node.type);
    case Operator::kFirstRows: {
      const Layer zero = numbers({0});
      const Layer one = numbers({1});
      const Layer shape = emit("ShapeOf", "opset3", R"(output_type="i64")", {in(1)}, ElementType::kI64);
      const Layer count = emit("Gather", "opset8", R"(batch_dims="0")", {shape, one, zero}, ElementType::kI64);
      return emit("Slice", "opset8", {}, {in(0), zero, count, one, zero}, node.type);
    }
    case Operator::kAdd:
      return elementwise("Add");
    case Operator::kSubtract:
      return elementwise("Subtract");
    case Operator::kMultiply:
      return elementwise("Multiply");
    case Operator::kDivide:
      return emit("Divide", "opset1", R"(auto_broadcast="numpy" m_pythondiv="true")", {in(0), in(1)}, node.type);
    case Operator::kMaximum:
      return elementwise("Maximum");
    case Operator::kMatMul:
      return emit("MatMul", "opset1",
                  fmt::format(R"(transpose_a="false" transpose_b="{}")", node.transpose_b ? "true" : "false"),
                  {in(0), in(1)}, node.type);
    case Operator::kReshape:
      return with_axes("Reshape", "opset1", R"(special_zero="true")");
    case Operator::kTranspose:
      return with_axes("Transpose", "opset1", {});
    case Operator::kUnsqueeze:
      return with_axes("Unsqueeze", "opset1", {});
    case Operator::kSqueeze:
      return with_axes("Squeeze", "opset1", {});
    case Operator::kSoftmax:
      return emit("SoftMax", "opset8", R"(axis="-1")", {in(0)}, node.type);
    case Operator::kLayerNorm: {
      const std::string name = std::exchange(public_name_, {});
      const Layer last = numbers({-1});
      const Layer centred = emit(
          "MVN", "opset6", fmt::format(R"(eps="{}" normalize_variance="true" eps_mode="INSIDE_SQRT")", node.epsilon),
          {in(0), last}, node.type);
      const Layer scaled = emit("Multiply", "opset1", kBroadcast, {centred, in(1)}, node.type);
      public_name_ = name;
      return emit("Add", "opset1", kBroadcast, {scaled, in(2)}, node.type);
    }
    case Operator::kGeluErf:
      return emit("Gelu", "opset7", R"(approximation_mode="ERF")", {in(0)}, node.type);
    case Operator::kGeluTanh:
      return emit("Gelu", "opset7", R"(approximation_mode="TANH")", {in(0)}, node.type);
    case Operator::kRelu:
      return emit("ReLU", "opset1", {}, {in(0)}, node.type);
    case Operator::kReduceSum:
      return reduce("ReduceSum", "opset1");
    case Operator::kReduceMax:
      return reduce("ReduceMax", "opset1");
    case Operator::kReduceL2:
      return reduce("ReduceL2", "opset4");
  }
  return {};
}

Result<OpenvinoIr> IrWriter::write() {
  for (const Node& node : graph_.nodes()) {
    if (layers_.size() == graph_.output().node) public_name_ = graph_.output_name();
    layers_.push_back(write_node(node));
  }
  emit("Result", "opset1", {}, {layers_[graph_.output().node]}, graph_.node(graph_.output()).type);
  OpenvinoIr ir;
  ir.xml = fmt::format(
      "<?xml version=\"1.0\"?>\n<net name=\"latebind\" version=\"11\">\n<layers>\n{}</layers>\n"
      "<edges>\n{}</edges>\n<rt_info/>\n</net>\n",
      layers_text_, edges_text_);
  ir.tail = std::move(tail_);
  return ir;
}

}  // namespace

Result<OpenvinoIr> write_openvino_ir(const Graph& graph, std::size_t tail_offset) {
  return IrWriter(graph, tail_offset).write();
}

}  // namespace latebind::embedding
