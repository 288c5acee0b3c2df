#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "core/onnx/known_errors.h"

namespace latebind::onnx {
namespace {

using core::ElementType;

constexpr unsigned kDepthMax = 32;
// Beyond so many inputs each is bounded as if it mattered.
constexpr std::size_t kInputsLookedAtMax = 32;
// A caller's floating-point numbers where only far larger ones matter: 2^60.
constexpr double kFiniteMax = 1'152'921'504'606'846'976;
// A caller's ordinary numbers.
constexpr double kGivenMax = 1'073'741'824;  // 2^30
constexpr double kGivenIntegerMax = 1'048'576;
// Weights of so few elements are always looked at.
constexpr std::size_t kLookedAtAlways = 4096;

// How much is asked of what a caller gives.
enum class Care : std::uint8_t {
  kNothing,
  kFits,      // integers in 32 bits, floating-point numbers that are finite and not huge
  kOrdinary,  // what models are given
};

// What is given by a caller; `indices`: how many there are of what it looks up.
ValueRange given(ElementType type, Care care, std::optional<std::int64_t> indices) {
  ValueRange range = ValueRange::any(type);
  const auto within = [&](double low, double high) {
    range.low = range.exact_low = std::max(range.low, low);
    range.high = range.exact_high = std::min(range.high, high);
  };
  if (care == Care::kNothing) return range;
  if (is_wide(type)) within(-2'147'483'648.0, 2'147'483'647.0);
  if (is_float(type)) {
    within(-(type == ElementType::kF16 ? 65'504 : kFiniteMax), type == ElementType::kF16 ? 65'504 : kFiniteMax);
    range.may_be_nan = false;
  }
  if (care == Care::kFits) return range;
  range.may_be_empty = false;
  if (is_wide(type)) within(-kGivenIntegerMax, kGivenIntegerMax);
  if (is_wide(type) && indices) within(static_cast<double>(-*indices), static_cast<double>(*indices - 1));
  if (is_float(type)) {
    const double most = type == ElementType::kF16 ? 65'504 : kGivenMax;
    within(-most, most);
    range.may_be_subnormal = false;
  }
  return range;
}

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

// What is known of tensors at a place in a model: of a graph, and of those around it.
struct Scope {
  const Scope* outer = nullptr;
  std::map<std::string, ValueRange, std::less<>> ranges{};
  std::set<std::string, std::less<>> constants{};

  [[nodiscard]] const ValueRange* find(const std::string& name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
      if (const auto found = scope->ranges.find(name); found != scope->ranges.end()) return &found->second;
    }
    return nullptr;
  }
  [[nodiscard]] bool is_constant(const std::string& name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
      if (scope->ranges.contains(name)) return scope->constants.contains(name);
    }
    return false;
  }
};

// Of one graph: what does not change from walk to walk.
struct Known {
  std::map<std::string, ValueRange, std::less<>> constants{};
  std::set<std::pair<std::string, std::string>> followers{};
};

class Walk {
 public:
  Walk(const OnnxNetwork& model, const KnownErrors& errors, const std::set<std::size_t>& left)
      : model_(model), errors_(errors), left_(left), indices_(indices_of(model.network)) {}

  std::vector<std::pair<std::size_t, std::string>> run(const std::map<std::string, Care>& care) {
    findings_.clear();
    Scope scope;
    for (const std::string& input : model_.network.inputs) {
      const auto asked = care.find(input);
      scope.ranges[input] = of_input(input, asked == care.end() ? Care::kOrdinary : asked->second);
    }
    (void)walk(model_.network, scope, 0);
    return findings_;
  }

  [[nodiscard]] ValueRange of_input(const std::string& name, Care care) const {
    const auto declared = model_.network.declared.find(name);
    const bool is_known = declared != model_.network.declared.end();
    const auto indices = indices_.find(name);
    ValueRange range = given(is_known ? declared->second.type.value_or(ElementType::kF32) : ElementType::kF32, care,
                             indices == indices_.end() ? std::nullopt : std::optional(indices->second));
    if (is_known) take_shape(range, declared->second);
    return range;
  }

 private:
  static void take_shape(ValueRange& range, const Declared& declared) {
    if (!declared.has_shape) return;
    range.has_shape = true;
    range.shape = declared.shape;
    const bool is_known = std::ranges::all_of(declared.shape, [](std::int64_t size) { return size > 0; });
    if (is_known) range.may_be_empty = false;
  }

  const Known& known_of(const Network& network) {
    auto& known = known_[&network];
    if (known) return *known;
    known = std::make_unique<Known>();
    std::set<std::string_view> numbers;  // constants that not only layers take
    for (const Node& node : network.nodes) {
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        known->followers.insert({node.inputs[i], node.op});
        const bool is_weight = takes_weights(node) && (i > 0 || node.op == "Gather" || node.op == "DequantizeLinear");
        if (!is_weight) numbers.insert(node.inputs[i]);
      }
    }
    for (const auto& [name, constant] : network.constants) {
      Constant looked_at = constant;
      const std::size_t size = constant.type ? core::size_of(*constant.type) : 0;
      if (!numbers.contains(name) && size > 0 && constant.data.size() / size > kLookedAtAlways)
        looked_at.is_read = false;
      known->constants[name] = ValueRange::of(looked_at);
    }
    return *known;
  }

  // How many indices there are for the inputs that look something up, and are only moved before.
  static std::map<std::string, std::int64_t> indices_of(const Network& network) {
    std::map<std::string_view, const Node*> makers;
    std::map<std::string, std::int64_t> found;
    for (const Node& node : network.nodes) {
      for (const std::string& output : node.outputs)
        makers[output] = &node;
      if (node.op != "Gather" || !node.domain.empty() || node.inputs.size() < 2) continue;
      std::vector<std::int64_t> shape;
      if (const auto table = network.constants.find(node.inputs[0]); table != network.constants.end()) {
        shape = table->second.shape;
      } else if (const auto data = network.declared.find(node.inputs[0]); data != network.declared.end()) {
        shape = data->second.shape;
      }
      const Attribute* axis = node.find("axis");
      std::int64_t place = axis != nullptr && axis->integer ? *axis->integer : 0;
      if (place < 0) place += static_cast<std::int64_t>(shape.size());
      if (place < 0 || place >= static_cast<std::int64_t>(shape.size())) continue;
      const std::int64_t size = shape[static_cast<std::size_t>(place)];
      if (size <= 0) continue;
      std::string name = node.inputs[1];
      for (unsigned steps = 0; steps < 64; ++steps) {
        const auto maker = makers.find(name);
        if (maker == makers.end()) break;
        const Node& before = *maker->second;
        if (!(only_moves(before.op) || before.op == "Cast") || before.inputs.empty()) break;
        name = before.inputs[0];
      }
      if (std::ranges::find(network.inputs, name) == network.inputs.end()) continue;
      const auto [entry, is_new] = found.try_emplace(name, size);
      entry->second = std::min(entry->second, size);
    }
    return found;
  }

  // The ranges of the graph's outputs. Findings in graphs within are those of the node that has them.
  std::vector<ValueRange> walk(const Network& network, Scope& scope, unsigned depth) {
    const Known& known = known_of(network);
    for (const auto& [name, range] : known.constants) {
      scope.ranges[name] = range;
      scope.constants.insert(name);
    }
    for (std::size_t place = 0; place < network.nodes.size(); ++place) {
      const Node& node = network.nodes[place];
      const bool is_left = depth == 0 && left_.contains(place);
      std::string error;
      std::vector<ValueRange> made = after(node, known, scope, depth, is_left ? nullptr : &error);
      if (!error.empty() && depth == 0) findings_.emplace_back(place, error);
      if (!error.empty() && depth > 0 && within_.empty()) within_ = node.text() + " within it " + error;
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i].empty()) continue;
        const auto declared = network.declared.find(node.outputs[i]);
        ValueRange range = i < made.size() ? std::move(made[i]) : ValueRange::any(ElementType::kF32);
        if (declared != network.declared.end() && declared->second.type && range.type != *declared->second.type)
          range = ValueRange::any(*declared->second.type);
        // Somebody else computes it, and a caller's bounds hold of it.
        if (is_left || !error.empty()) range = given(range.type, Care::kOrdinary, std::nullopt);
        if (declared != network.declared.end()) take_shape(range, declared->second);
        if (node.op == "Constant" && node.domain.empty()) scope.constants.insert(node.outputs[i]);
        scope.ranges[node.outputs[i]] = std::move(range);
      }
    }
    std::vector<ValueRange> outputs;
    for (const std::string& name : network.outputs) {
      const ValueRange* range = scope.find(name);
      outputs.push_back(range != nullptr ? *range : ValueRange::any(ElementType::kF32));
    }
    return outputs;
  }

  // The ranges of a node's outputs, and in `error` what is known against it.
  std::vector<ValueRange> after(const Node& node, const Known& known, Scope& scope, unsigned depth,
                                std::string* error) {
    std::vector<const ValueRange*> inputs;
    const std::unique_ptr<bool[]> constants(new bool[node.inputs.size() + 1]());
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      inputs.push_back(node.inputs[i].empty() ? nullptr : scope.find(node.inputs[i]));
      constants[i] = !node.inputs[i].empty() && scope.is_constant(node.inputs[i]);
    }
    const std::span<const bool> are_constant(constants.get(), node.inputs.size());
    const auto function = model_.functions.find(node.domain + ":" + node.op);
    if (function != model_.functions.end() || has_networks(node)) {
      const std::string before = std::exchange(within_, "");
      std::vector<ValueRange> made =
          function != model_.functions.end() ? called(*function->second, inputs, depth) : branched(node, scope, depth);
      const std::string found = std::exchange(within_, before);
      if (error != nullptr && !found.empty()) *error = "has " + found;
      if (error != nullptr && error->empty()) *error = errors_.of({node, inputs, are_constant, made, known.followers});
      return made;
    }
    std::vector<ValueRange> made = ranges_after(node, inputs, are_constant);
    if (error != nullptr) *error = errors_.of({node, inputs, are_constant, made, known.followers});
    return made;
  }

  static bool has_networks(const Node& node) {
    return std::ranges::any_of(node.attributes, [](const auto& entry) { return !entry.second.networks.empty(); });
  }

  std::vector<ValueRange> called(const Network& function, const std::vector<const ValueRange*>& inputs,
                                 unsigned depth) {
    if (depth >= kDepthMax) return {};
    Scope scope;
    for (std::size_t i = 0; i < function.inputs.size(); ++i) {
      const bool is_given = i < inputs.size() && inputs[i] != nullptr;
      scope.ranges[function.inputs[i]] = is_given ? *inputs[i] : ValueRange::any(ElementType::kF32);
    }
    return walk(function, scope, depth + 1);
  }

  std::vector<ValueRange> branched(const Node& node, const Scope& outer, unsigned depth) {
    std::vector<ValueRange> made(node.outputs.size(), ValueRange::any(ElementType::kF32));
    if (depth >= kDepthMax) return made;
    for (const auto& [name, attribute] : node.attributes) {
      for (const auto& network : attribute.networks) {
        Scope scope;
        scope.outer = &outer;
        for (const std::string& input : network->inputs) {
          const auto declared = network->declared.find(input);
          const bool is_typed = declared != network->declared.end() && declared->second.type;
          scope.ranges[input] = ValueRange::any(is_typed ? *declared->second.type : ElementType::kF32);
        }
        const std::vector<ValueRange> outputs = walk(*network, scope, depth + 1);
        // A loop's body gives the condition first.
        const std::size_t first = node.op == "Loop" ? 1 : 0;
        for (std::size_t i = 0; i + first < outputs.size() && i < made.size(); ++i)
          made[i] = ValueRange::any(outputs[i + first].type);
      }
    }
    return made;
  }

  const OnnxNetwork& model_;
  const KnownErrors& errors_;
  const std::set<std::size_t>& left_;
  const std::map<std::string, std::int64_t> indices_;
  std::map<const Network*, std::unique_ptr<Known>> known_;
  std::vector<std::pair<std::size_t, std::string>> findings_;
  std::string within_;  // the first finding within a node
};

}  // namespace

KnownErrorReport find_known_errors(const OnnxNetwork& model, const KnownErrors& errors,
                                   const std::set<std::size_t>& left) {
  KnownErrorReport report;
  if (errors.empty()) return report;
  Walk walk(model, errors, left);
  std::map<std::string, Care> care;
  report.nodes = walk.run(care);
  const std::vector<std::string>& inputs = model.network.inputs;
  // As little is asked of each input as leads to the same.
  for (const std::string& input : inputs) {
    if (inputs.size() > kInputsLookedAtMax) break;
    for (const Care less : {Care::kNothing, Care::kFits}) {
      care[input] = less;
      if (walk.run(care).size() <= report.nodes.size()) break;
      care.erase(input);
    }
  }
  for (std::size_t place = 0; place < inputs.size(); ++place) {
    const auto asked = care.find(inputs[place]);
    if (asked != care.end() && asked->second == Care::kNothing) continue;
    const ValueRange range = walk.of_input(inputs[place], asked == care.end() ? Care::kOrdinary : asked->second);
    report.bounds.push_back({inputs[place], place, range.type, range.low, range.high, range.may_be_nan,
                             range.may_be_subnormal, range.may_be_empty});
  }
  return report;
}

}  // namespace latebind::onnx
