#include "backends/openvino/ir_writer.h"

#include <fmt/ranges.h>

#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/lowering.h"
#include "core/text/format_to.h"
#include "core/text/markup.h"

namespace latebind::openvino {
namespace {

using core::ElementType;
namespace primitive = graph::primitive;

// Alignment of the constants in the tail.
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

constexpr std::string_view kBroadcast = R"(auto_broadcast="numpy")";

class IrWriter {
 public:
  IrWriter(const graph::Graph& graph, std::size_t tail_offset, const IrOptions& options)
      : graph_(graph),
        network_(graph::lower(graph, {.packs_tokens = options.packs_tokens})),
        tail_offset_(tail_offset),
        keeps_types_(options.keeps_types) {}

  Ir write();

  // A layer that has been written, as other layers refer to it.
  struct Layer {
    std::size_t id = 0;
    std::size_t port = 0;  // of its value; a layer's inputs are numbered first
    ElementType type = ElementType::kF32;
  };

  Layer operator()(const graph::Input& op);
  Layer operator()(const graph::Weight& op) {
    if (op.file != 0) return of_other_file(op);
    return stored(op.type, op.shape.dims(), static_cast<std::size_t>(op.offset), graph_.bytes_of(op).size());
  }
  Layer operator()(const primitive::Constant& op) { return constant(op.type, op.shape.dims(), op.bytes); }
  Layer operator()(const primitive::Convert& op) {
    const ElementType to = network_.nodes[layers_.size()].type;
    is_decompression_ = keeps_types_ && std::holds_alternative<graph::Weight>(network_.nodes[op.x.node].op);
    return emit("Convert", "opset1", fmt::format(R"(destination_type="{}")", core::name_of(to)), {of(op.x)}, to);
  }
  Layer operator()(const primitive::Gather& op) {
    const Layer axis = numbers({op.axis});
    return emit("Gather", "opset8", R"(batch_dims="0")", {of(op.data), of(op.indices), axis});
  }
  Layer operator()(const primitive::GatherRow& op) {
    return emit("GatherND", "opset8", R"(batch_dims="1")", {of(op.data), of(op.indices)});
  }
  Layer operator()(const primitive::FirstRows& op);
  Layer operator()(const primitive::Positions& op);
  Layer operator()(const primitive::CumulativeSum& op);
  Layer operator()(const primitive::IsEqual& op);
  Layer operator()(const primitive::Slice& op) {
    const Layer first = numbers({op.first});
    const Layer end = numbers({op.first + op.count});
    const Layer one = numbers({1});
    const Layer last = numbers({-1});
    return emit("Slice", "opset8", {}, {of(op.x), first, end, one, last});
  }
  Layer operator()(const primitive::Concat& op) {
    return emit("Concat", "opset1", R"(axis="-1")", {of(op.a), of(op.b)});
  }
  Layer operator()(const primitive::Binary& op);
  Layer operator()(const primitive::MatMul& op) {
    const std::string_view transposes = op.transpose_b ? "true" : "false";
    return emit("MatMul", "opset1", fmt::format(R"(transpose_a="false" transpose_b="{}")", transposes),
                {of(op.a), of(op.b)});
  }
  Layer operator()(const primitive::Convolution& op) {
    const std::int64_t pad = (op.width - 1) / 2;
    return emit("Convolution", "opset1",
                fmt::format(R"(strides="1" dilations="1" pads_begin="{0}" pads_end="{0}" auto_pad="explicit")", pad),
                {of(op.x), of(op.weight)});
  }
  Layer operator()(const primitive::Reshape& op) {
    return with_numbers("Reshape", "opset1", R"(special_zero="true")", op.x, op.shape);
  }
  Layer operator()(const primitive::Transpose& op) {
    return with_numbers("Transpose", "opset1", {}, op.x, op.permutation);
  }
  Layer operator()(const primitive::Unsqueeze& op) { return with_numbers("Unsqueeze", "opset1", {}, op.x, op.axes); }
  Layer operator()(const primitive::Squeeze& op) { return with_numbers("Squeeze", "opset1", {}, op.x, op.axes); }
  Layer operator()(const primitive::Softmax& op) { return emit("SoftMax", "opset8", R"(axis="-1")", {of(op.x)}); }
  Layer operator()(const primitive::KeepLargest& op);
  Layer operator()(const primitive::LayerNorm& op);
  Layer operator()(const graph::Activation& op);
  Layer operator()(const primitive::SquareRoot& op) { return emit("Sqrt", "opset1", {}, {of(op.x)}); }
  Layer operator()(const primitive::Reduce& op);

 private:
  using Layers = std::initializer_list<Layer>;

  // The layer of a primitive.
  [[nodiscard]] const Layer& of(graph::Value value) const { return layers_[value.node]; }
  // The value has the type of the layer's first input.
  Layer emit(std::string_view type, std::string_view opset, std::string_view attributes, Layers inputs) {
    return emit(type, opset, attributes, inputs, inputs.begin()->type);
  }
  // A layer with a second value, of type `second`, has it at the port after the first one.
  Layer emit(std::string_view type, std::string_view opset, std::string_view attributes, Layers inputs,
             ElementType output, std::optional<ElementType> second = std::nullopt);
  Layer stored(ElementType type, std::span<const std::int64_t> shape, std::size_t offset, std::size_t size);
  Layer constant(ElementType type, std::span<const std::int64_t> shape, std::span<const std::byte> bytes);
  // A weight that the first file does not have.
  Layer of_other_file(const graph::Weight& weight);
  Layer numbers(const std::vector<std::int64_t>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return integers({&count, 1}, values);
  }
  // A constant of rank 0.
  Layer number(std::int64_t value) { return integers({}, {value}); }
  // Each constant is written once, however often it is used.
  Layer integers(std::span<const std::int64_t> shape, const std::vector<std::int64_t>& values);
  // The number of columns, as a constant of rank 0 or 1.
  Layer columns_of(graph::Value value, bool with_dimension);
  Layer with_numbers(std::string_view type, std::string_view opset, std::string_view attributes, graph::Value x,
                     const std::vector<std::int64_t>& values) {
    const Layer second = numbers(values);
    return emit(type, opset, attributes, {of(x), second});
  }
  auto text() { return std::back_inserter(layers_text_); }

  const graph::Graph& graph_;
  const graph::PrimitiveNetwork network_;
  const std::size_t tail_offset_;
  const bool keeps_types_;
  bool is_decompression_ = false;                                                // of the next layer
  std::vector<Layer> layers_;                                                    // by primitive
  std::map<std::pair<std::size_t, std::vector<std::int64_t>>, Layer> integers_;  // by rank and values
  std::size_t layer_count_ = 0;
  // The program's name for the value of the next layer. Values inside the network have no names.
  std::string public_name_;
  std::string layers_text_;
  std::string edges_text_;
  std::string tail_;
};

IrWriter::Layer IrWriter::emit(std::string_view type, std::string_view opset, std::string_view attributes,
                               Layers inputs, ElementType output, std::optional<ElementType> second) {
  const Layer layer{layer_count_++, inputs.size(), output};
  const std::string name = public_name_.empty() ? fmt::format("n{}", layer.id) : core::escaped_for_markup(public_name_);
  fmt::format_to(text(), R"(<layer id="{}" name="{}" type="{}" version="{}">)", layer.id, name, type, opset);
  if (!attributes.empty()) fmt::format_to(text(), "<data {}/>", attributes);
  if (std::exchange(is_decompression_, false))
    layers_text_ += R"(<rt_info><attribute name="decompression" version="0"/></rt_info>)";
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
    layers_text_ += "/>";
    if (second) fmt::format_to(text(), R"(<port id="{}" precision="{}"/>)", port + 1, precision_of(*second));
    layers_text_ += "</output>";
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

IrWriter::Layer IrWriter::of_other_file(const graph::Weight& weight) {
  const auto dims = weight.shape.dims();
  const core::FilePart& part = graph_.weights()[weight.file];
  const auto size = core::byte_size_of(weight.type, weight.shape);
  if (part.computed == nullptr || !size.ok()) return constant(weight.type, dims, graph_.bytes_of(weight));
  // Each weight is computed separately, because the whole part would be as large as the model.
  tail_.reserve(part.bytes.bytes.size());
  const std::size_t begin = (tail_.size() + kAlignment - 1) / kAlignment * kAlignment;
  tail_.resize(begin + *size);
  const auto place = std::as_writable_bytes(std::span(tail_)).subspan(begin);
  if (!part.computed->read(weight.offset, place)) std::ranges::copy(graph_.bytes_of(weight), place.begin());
  return stored(weight.type, dims, tail_offset_ + begin, *size);
}

IrWriter::Layer IrWriter::integers(std::span<const std::int64_t> shape, const std::vector<std::int64_t>& values) {
  const auto [entry, is_new] = integers_.try_emplace({shape.size(), values});
  if (is_new) {
    const std::string name = std::exchange(public_name_, {});
    entry->second = constant(ElementType::kI64, shape, std::as_bytes(std::span(values)));
    public_name_ = name;
  }
  return entry->second;
}

IrWriter::Layer IrWriter::operator()(const graph::Input& op) {
  public_name_ = op.name;
  std::vector<std::string> dims;
  for (const std::int64_t dim : op.shape.dims())
    dims.push_back(dim < 0 ? "?" : fmt::format("{}", dim));
  return emit("Parameter", "opset1",
              fmt::format(R"(shape="{}" element_type="{}")", fmt::join(dims, ","), core::name_of(op.type)), {},
              op.type);
}

IrWriter::Layer IrWriter::columns_of(graph::Value value, bool with_dimension) {
  const Layer zero = numbers({0});
  const Layer column = with_dimension ? numbers({1}) : number(1);
  const Layer shape = emit("ShapeOf", "opset3", R"(output_type="i64")", {of(value)}, ElementType::kI64);
  return emit("Gather", "opset8", R"(batch_dims="0")", {shape, column, zero});
}

IrWriter::Layer IrWriter::operator()(const primitive::FirstRows& op) {
  const Layer zero = numbers({0});
  const Layer one = numbers({1});
  const Layer count = columns_of(op.like, true);
  return emit("Slice", "opset8", {}, {of(op.table), zero, count, one, zero});
}

IrWriter::Layer IrWriter::operator()(const primitive::Positions& op) {
  const Layer zero = number(0);
  const Layer one = number(1);
  const Layer count = columns_of(op.like, false);
  return emit("Range", "opset4", R"(output_type="i64")", {zero, count, one});
}

IrWriter::Layer IrWriter::operator()(const primitive::CumulativeSum& op) {
  const Layer columns = number(1);
  return emit("CumSum", "opset3", R"(exclusive="false" reverse="false")", {of(op.x), columns});
}

IrWriter::Layer IrWriter::operator()(const primitive::IsEqual& op) {
  const Layer equal = emit("Equal", "opset1", kBroadcast, {of(op.x), of(op.number)}, ElementType::kBool);
  return emit("Convert", "opset1", R"(destination_type="i64")", {equal}, ElementType::kI64);
}

IrWriter::Layer IrWriter::operator()(const primitive::Binary& op) {
  const auto written = [&](std::string_view type, std::string_view attributes = kBroadcast) {
    return emit(type, "opset1", attributes, {of(op.a), of(op.b)});
  };
  switch (op.function) {
    case primitive::BinaryFunction::kAdd:
      return written("Add");
    case primitive::BinaryFunction::kSubtract:
      return written("Subtract");
    case primitive::BinaryFunction::kMultiply:
      return written("Multiply");
    case primitive::BinaryFunction::kDivide:
      return written("Divide", R"(auto_broadcast="numpy" m_pythondiv="true")");
    case primitive::BinaryFunction::kMinimum:
      return written("Minimum");
    case primitive::BinaryFunction::kMaximum:
      break;
  }
  return written("Maximum");
}

IrWriter::Layer IrWriter::operator()(const primitive::KeepLargest& op) {
  const std::string name = std::exchange(public_name_, {});
  const Layer count = number(op.count);
  const Layer last = numbers({-1});
  const Layer largest =
      emit("TopK", "opset11", R"(axis="-1" mode="max" sort="value" index_element_type="i64" stable="true")",
           {of(op.x), count}, of(op.x).type, ElementType::kI64);
  const Layer places{largest.id, largest.port + 1, ElementType::kI64};
  const Layer none = emit("Subtract", "opset1", kBroadcast, {of(op.x), of(op.x)});
  public_name_ = name;
  return emit("ScatterElementsUpdate", "opset3", {}, {none, places, largest, last});
}

IrWriter::Layer IrWriter::operator()(const primitive::LayerNorm& op) {
  const std::string name = std::exchange(public_name_, {});
  const Layer last = numbers({-1});
  const Layer centred =
      emit("MVN", "opset6", fmt::format(R"(eps="{}" normalize_variance="true" eps_mode="INSIDE_SQRT")", op.epsilon),
           {of(op.x), last});
  if (!op.bias) {
    public_name_ = name;
    return emit("Multiply", "opset1", kBroadcast, {centred, of(op.weight)});
  }
  const Layer scaled = emit("Multiply", "opset1", kBroadcast, {centred, of(op.weight)});
  public_name_ = name;
  return emit("Add", "opset1", kBroadcast, {scaled, of(*op.bias)});
}

IrWriter::Layer IrWriter::operator()(const graph::Activation& op) {
  switch (op.function) {
    case graph::ActivationFunction::kGeluErf:
      return emit("Gelu", "opset7", R"(approximation_mode="ERF")", {of(op.x)});
    case graph::ActivationFunction::kGeluTanh:
      return emit("Gelu", "opset7", R"(approximation_mode="TANH")", {of(op.x)});
    case graph::ActivationFunction::kTanh:
      return emit("Tanh", "opset1", {}, {of(op.x)});
    case graph::ActivationFunction::kSilu:
      return emit("Swish", "opset4", {}, {of(op.x)});
    case graph::ActivationFunction::kRelu:
      break;
  }
  return emit("ReLU", "opset1", {}, {of(op.x)});
}

IrWriter::Layer IrWriter::operator()(const primitive::Reduce& op) {
  const auto written = [&](std::string_view type, std::string_view opset) {
    return with_numbers(type, opset, op.keep_dimensions ? R"(keep_dims="true")" : R"(keep_dims="false")", op.x,
                        op.axes);
  };
  switch (op.function) {
    case primitive::ReduceFunction::kMax:
      return written("ReduceMax", "opset1");
    case primitive::ReduceFunction::kL2:
      return written("ReduceL2", "opset4");
    case primitive::ReduceFunction::kMean:
      return written("ReduceMean", "opset1");
    case primitive::ReduceFunction::kSum:
      break;
  }
  return written("ReduceSum", "opset1");
}

Ir IrWriter::write() {
  for (const graph::PrimitiveNode& node : network_.nodes) {
    for (const graph::PrimitiveOutput& output : network_.outputs) {
      if (layers_.size() == output.value.node) public_name_ = output.name;
    }
    layers_.push_back(std::visit(*this, node.op));
  }
  for (const graph::PrimitiveOutput& output : network_.outputs)
    emit("Result", "opset1", {}, {of(output.value)});
  Ir ir;
  ir.xml = fmt::format(
      "<?xml version=\"1.0\"?>\n<net name=\"latebind\" version=\"11\">\n<layers>\n{}</layers>\n"
      "<edges>\n{}</edges>\n<rt_info/>\n</net>\n",
      layers_text_, edges_text_);
  ir.tail = std::move(tail_);
  return ir;
}

}  // namespace

Ir write_ir(const graph::Graph& graph, std::size_t tail_offset, const IrOptions& options) {
  return IrWriter(graph, tail_offset, options).write();
}

}  // namespace latebind::openvino
