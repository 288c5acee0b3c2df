#include "hosts/onnxruntime/vendor_errors.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace latebind::provider {
namespace {

constexpr const char* kReason = "is computed otherwise by OpenVINO than ONNX says";

// Operators of which some test comes out wrong, and that are rare enough to be left to the host altogether.
constexpr std::array<std::string_view, 9> kWrong{
    "DFT",
    "DynamicQuantizeLinear",
    "NonMaxSuppression",
    "ReduceMax",
    "ReduceMin",  // of rows without a finite number
    "RoiAlign",
    "Round",
    "Tile",  // with repeats that only a run knows
    "TopK"   // of equal numbers
};

bool is_set(const GraphView& graph, const NodeView& node, const char* attribute) {
  return int_attribute(graph.host(), node.raw, attribute, 0) != 0;
}

bool has_input(std::span<const TypeView> inputs, std::size_t index) {
  return index < inputs.size() && inputs[index].is_tensor;
}

bool is_wrong(const GraphView& graph, const NodeView& node, std::span<const TypeView> inputs) {
  if (std::ranges::find(kWrong, node.op) != kWrong.end()) return true;
  if (node.op == "Attention") return is_set(graph, node, "is_causal") && has_input(inputs, 4);
  if (node.op == "GRU" || node.op == "RNN") return is_set(graph, node, "layout");
  // The eighth input has the peepholes.
  if (node.op == "LSTM") return is_set(graph, node, "layout") || has_input(inputs, 7);
  if (node.op == "QuantizeLinear") return node.inputs.size() < 2 || !graph.is_constant(node.inputs[1]);
  // What is rounded next must not differ in its last bit.
  if (node.op == "Div") return std::ranges::find(graph.nodes(), "Round", &NodeView::op) != graph.nodes().end();
  if (node.op == "MaxPool") return is_set(graph, node, "ceil_mode");
  if (node.op == "Resize") {
    const std::string policy = text_attribute(graph.host(), node.raw, "keep_aspect_ratio_policy");
    return is_set(graph, node, "antialias") || is_set(graph, node, "exclude_outside") ||
           (!policy.empty() && policy != "stretch");
  }
  return false;
}

}  // namespace

std::string vendor_error(const GraphView& graph, const NodeView& node, std::span<const TypeView> inputs) {
  return is_wrong(graph, node, inputs) ? kReason : "";
}

}  // namespace latebind::provider
