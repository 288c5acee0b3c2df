#include "hosts/onnxruntime/wide_integers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string_view>

namespace latebind::provider {
namespace {

// What results of these operators are does not depend on how large the numbers are that go in.
constexpr std::array<std::string_view, 19> kFits{
    "Shape", "Size", "NonZero", "ArgMax", "ArgMin", "Equal", "Greater", "GreaterOrEqual", "Less",  "LessOrEqual",
    "Not",   "And",  "Or",      "Xor",    "IsInf",  "IsNaN", "Sign",    "EyeLike",        "OneHot"};
// Whose result may be beyond 32 bits, or comes out otherwise when what goes in was cut to 32 bits.
constexpr std::array<std::string_view, 25> kComputes{"Abs",
                                                     "Add",
                                                     "BitShift",
                                                     "BitwiseAnd",
                                                     "BitwiseNot",
                                                     "BitwiseOr",
                                                     "BitwiseXor",
                                                     "CumSum",
                                                     "Div",
                                                     "Einsum",
                                                     "MatMul",
                                                     "Mean",
                                                     "Mod",
                                                     "Mul",
                                                     "Neg",
                                                     "Pow",
                                                     "ReduceL1",
                                                     "ReduceL2",
                                                     "ReduceMean",
                                                     "ReduceProd",
                                                     "ReduceSum",
                                                     "ReduceSumSquare",
                                                     "Sub",
                                                     "Sum",
                                                     "DequantizeLinear"};
// These take limits and sizes of which the largest number means "all".
constexpr std::array<std::string_view, 6> kTakesLimits{"Slice", "Clip", "Reshape", "Expand", "Pad", "TopK"};
// Their second input only says where.
constexpr std::array<std::string_view, 3> kLooksUp{"Gather", "GatherElements", "GatherND"};

bool is_in(std::string_view op, auto const& list) {
  return std::ranges::find(list, op) != list.end();
}

template <class Number>
bool any_beyond(const void* data, std::size_t size) {
  for (std::size_t at = 0; at + sizeof(Number) <= size; at += sizeof(Number)) {
    Number number{};
    std::memcpy(&number, static_cast<const char*>(data) + at, sizeof number);
    if (!std::in_range<std::int32_t>(number)) return true;
  }
  return false;
}

bool is_beyond(const Host& host, const ValueView& constant, const TypeView& info) {
  const abi::Value* value = nullptr;
  host.check(host->ValueInfo_GetInitializerValue(constant.raw, &value));
  Host::need(value, "initializer");
  std::size_t size = 0;
  host.check(host->GetTensorSizeInBytes(value, &size));
  const void* data = nullptr;
  host.check(host->GetTensorData(value, &data));
  const std::int32_t type = info.type;
  std::size_t expected = type == LB_U32 ? sizeof(std::uint32_t) : sizeof(std::int64_t);
  for (const std::int64_t dimension : info.shape)
    expected *= static_cast<std::size_t>(dimension);
  // What has another size than its shape says is not read.
  if (size != expected) return true;
  if (size == 0) return false;
  Host::need(data, "data of a tensor");
  if (type == LB_I64) return any_beyond<std::int64_t>(data, size);
  if (type == LB_U64) return any_beyond<std::uint64_t>(data, size);
  return any_beyond<std::uint32_t>(data, size);
}

bool is_wide_type(const GraphView& graph, const ValueView& value) {
  const std::int32_t type = graph.type_of(value).type;
  return type == LB_I64 || type == LB_U64 || type == LB_U32;
}

}  // namespace

WideIntegers::WideIntegers(const GraphView& graph) {
  std::set<std::string> made;
  for (const NodeView& node : graph.nodes()) {
    bool from_data = false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueView& input = node.inputs[i];
      if (input.raw == nullptr) continue;
      if (graph.is_constant(input)) {
        if (is_wide_type(graph, input) && is_beyond(graph.host(), input, graph.type_of(input))) {
          wide_.insert(input.name);
        }
        continue;
      }
      if (!made.contains(input.name)) from_data_.insert(input.name);  // the graph's own input
      if (i > 0 && is_in(node.op, kLooksUp)) continue;
      const std::int32_t type = graph.type_of(input).type;
      const bool is_narrow =
          type == LB_BOOL || type == LB_I8 || type == LB_U8 || type == LB_I16 || type == LB_U16 || type == LB_I32;
      if (from_data_.contains(input.name) && !is_narrow) from_data = true;
    }
    if (is_in(node.op, kFits)) from_data = false;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].raw == nullptr) continue;
      made.insert(node.outputs[i].name);
      const bool is_index = i == 1 && (node.op == "TopK" || node.op == "MaxPool");
      if (from_data && !is_index) from_data_.insert(node.outputs[i].name);
    }
  }
}

std::string WideIntegers::refusal(const GraphView& graph, const NodeView& node) const {
  for (const ValueView& input : node.inputs) {
    if (input.raw == nullptr) continue;
    if (wide_.contains(input.name) && !is_in(node.op, kTakesLimits)) {
      return "has '" + input.name + "', whose numbers need more than 32 bits";
    }
    if (is_in(node.op, kComputes) && from_data_.contains(input.name) && is_wide_type(graph, input)) {
      return "computes with '" + input.name + "', whose numbers may need more than 32 bits";
    }
  }
  return {};
}

}  // namespace latebind::provider
