#include "core/onnx/network_facts.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace latebind::onnx {
namespace {

// Weights with at most this many elements are always read.
constexpr std::size_t kLookedAtAlways = 4096;

bool takes_weights(const Node& node) {
  static const std::set<std::string_view> kLayers{"Attention",
                                                  "BatchNormalization",
                                                  "Conv",
                                                  "ConvInteger",
                                                  "ConvTranspose",
                                                  "DequantizeLinear",
                                                  "GRU",
                                                  "Gather",
                                                  "Gemm",
                                                  "LSTM",
                                                  "LayerNormalization",
                                                  "MatMul",
                                                  "MatMulInteger",
                                                  "QLinearConv",
                                                  "QLinearMatMul",
                                                  "RNN",
                                                  "RMSNormalization"};
  return node.domain.empty() && kLayers.contains(node.op);
}

}  // namespace

bool has_networks(const Node& node) {
  return std::ranges::any_of(node.attributes, [](const auto& entry) { return !entry.second.networks.empty(); });
}

NetworkFacts NetworkFacts::of(const Network& network) {
  NetworkFacts facts;
  // Finds tensors that not only layers take, perhaps after they were moved. It starts at the end, so that the users
  // of a node's outputs are known before the node.
  std::set<std::string_view> numbers(network.outputs.begin(), network.outputs.end());
  bool has_networks_within = false;
  for (auto place = network.nodes.rbegin(); place != network.nodes.rend(); ++place) {
    const Node& node = *place;
    has_networks_within = has_networks_within || has_networks(node);
    for (const std::string& output : node.outputs)
      facts.makers.emplace(output, node.op);
    const bool moves = node.domain.empty() && (only_moves(node.op) || node.op == "Cast") &&
                       std::ranges::none_of(node.outputs, [&](const auto& name) { return numbers.contains(name); });
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      facts.followers.insert({node.inputs[i], node.op});
      const bool is_weight = takes_weights(node) && (i > 0 || node.op == "Gather" || node.op == "DequantizeLinear");
      if (!is_weight && !(moves && i == 0)) numbers.insert(node.inputs[i]);
    }
  }
  for (const auto& [name, constant] : network.constants) {
    Constant looked_at = constant;
    const std::size_t size = constant.type ? core::size_of(*constant.type) : 0;
    const bool is_weight = !numbers.contains(name) && !has_networks_within;
    if (is_weight && size > 0 && constant.data.size() / size > kLookedAtAlways) looked_at.is_read = false;
    facts.constants[name] = ValueRange::of(looked_at);
  }
  return facts;
}

}  // namespace latebind::onnx
