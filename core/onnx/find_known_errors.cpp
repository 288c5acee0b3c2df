#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/onnx/given.h"
#include "core/onnx/known_errors.h"
#include "core/onnx/lookups.h"
#include "core/onnx/network_facts.h"

namespace latebind::onnx {
namespace {

using core::ElementType;

constexpr unsigned kDepthMax = 32;
// The number of nodes and names within nodes, including functions that call functions. Beyond it nothing is known about
// the node that contains them.
constexpr std::size_t kWorkWithinMax = 4'000'000;
// The number of nodes and names that are visited to find weaker bounds. Beyond it, remaining inputs are bounded as if
// they mattered.
constexpr std::size_t kWorkToAskLessMax = 4'000'000;

std::size_t work_of(const Node& node) {
  return 1 + node.inputs.size() + node.outputs.size();
}

// What is known about tensors at a place in a model: of a graph, and of the graphs around it.
struct Scope {
  const Scope* outer = nullptr;
  const NetworkFacts* facts = nullptr;
  std::map<std::string, ValueRange, std::less<>> ranges{};
  std::set<std::string, std::less<>> constants{};  // names of constants among them
  // Within a function: the node that calls it, and the inputs that this call does not give.
  const Network* function = nullptr;
  const Node* call = nullptr;
  std::set<std::string, std::less<>> absent{};

  // Returns the range of this tensor, or null. `is_constant`, if given, receives whether the tensor is a constant.
  [[nodiscard]] const ValueRange* find(const std::string& name, bool* is_constant = nullptr) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
      if (const auto found = scope->ranges.find(name); found != scope->ranges.end()) {
        if (is_constant != nullptr) *is_constant = scope->constants.contains(name);
        return &found->second;
      }
      if (scope->facts == nullptr) continue;
      if (const auto found = scope->facts->constants.find(name); found != scope->facts->constants.end()) {
        if (is_constant != nullptr) *is_constant = true;
        return &found->second;
      }
    }
    return nullptr;
  }
};

using Errors = std::vector<std::pair<std::size_t, std::string>>;
using Cares = std::map<std::string, Care>;

class Walk {
 public:
  Walk(const OnnxNetwork& model, const KnownErrors& errors, const std::set<std::size_t>& left)
      : model_(model), errors_(errors), left_(left), indices_(indices_looked_up(model.network)) {}

  // Returns the errors that are found under these assumptions about the inputs.
  Errors run(const Cares& care) {
    walk_all(care);
    return findings_;
  }

  // Whether errors are found exactly at the nodes in `places`. Ends at the first difference.
  bool finds(const Cares& care, const std::vector<std::size_t>& places) {
    expected_ = &places;
    walk_all(care);
    expected_ = nullptr;
    return findings_.size() == places.size() && !is_different_;
  }

  [[nodiscard]] bool is_no_index(const std::string& input) const { return !indices_.contains(input); }

  // The work of all walks.
  [[nodiscard]] std::size_t work() const { return work_; }

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
  void walk_all(const Cares& care) {
    findings_.clear();
    is_different_ = false;
    work_within_ = 0;
    Scope scope;
    for (const std::string& input : model_.network.inputs) {
      const auto asked = care.find(input);
      scope.ranges[input] = of_input(input, asked == care.end() ? Care::kOrdinary : asked->second);
      scope.ranges[input].id = ++last_id_;
    }
    (void)walk(model_.network, scope, 0);
    work_ += work_within_ + model_.network.inputs.size();
    for (const Node& node : model_.network.nodes)
      work_ += work_of(node);
  }

  static void take_shape(ValueRange& range, const Declared& declared) {
    if (!declared.has_shape) return;
    range.has_shape = true;
    range.shape = declared.shape;
    const bool is_known = std::ranges::all_of(declared.shape, [](std::int64_t size) { return size > 0; });
    if (is_known) range.may_be_empty = false;
    if (std::ranges::find(declared.shape, 0) != declared.shape.end()) range.may_be_empty = true;
  }

  const NetworkFacts& facts_of(const Network& network) {
    auto& facts = facts_[&network];
    if (facts == nullptr) {
      facts = std::make_unique<NetworkFacts>(NetworkFacts::of(network));
      const auto looks_beside = [this](const Node& node) { return errors_.looks_beside(node.op); };
      if (std::ranges::any_of(network.nodes, looks_beside)) facts->takers = Takers(network);
    }
    return *facts;
  }

  // Returns the ranges of the graph's outputs. Errors in inner graphs count for the node that contains them.
  std::vector<ValueRange> walk(const Network& network, Scope& scope, unsigned depth) {
    const NetworkFacts& facts = facts_of(network);
    scope.facts = &facts;
    for (std::size_t place = 0; place < network.nodes.size(); ++place) {
      if (depth > 0) work_within_ += work_of(network.nodes[place]);
      if (depth > 0 && work_within_ > kWorkWithinMax) {
        within_ = "more nested nodes than are examined";
        return {};
      }
      const Node& written = network.nodes[place];
      const std::optional<Node> meant = scope.call != nullptr ? as_called(written, scope) : std::nullopt;
      const Node& node = meant ? *meant : written;
      const bool is_left = depth == 0 && left_.contains(place);
      std::string error;
      std::vector<ValueRange> made = after(node, facts, scope, depth, is_left ? nullptr : &error);
      if (depth == 0 && expected_ != nullptr && is_other_than_expected(place, !error.empty())) {
        is_different_ = true;
        return {};
      }
      if (!error.empty() && depth == 0) findings_.emplace_back(place, error);
      if (!error.empty() && depth > 0 && within_.empty()) within_ = node.text() + " within it, which " + error;
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i].empty()) continue;
        const auto declared = network.declared.find(node.outputs[i]);
        ValueRange range = i < made.size() ? std::move(made[i]) : ValueRange::any(ElementType::kF32);
        if (declared != network.declared.end() && declared->second.type && range.type != *declared->second.type)
          range = ValueRange::any(*declared->second.type);
        // Another device computes it, and a caller's bounds apply to it.
        if (is_left || !error.empty()) range = given(range.type, Care::kOrdinary, std::nullopt);
        if (declared != network.declared.end()) take_shape(range, declared->second);
        range.id = ++last_id_;
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

  [[nodiscard]] bool is_other_than_expected(std::size_t place, bool is_found) const {
    const std::size_t next = findings_.size();
    const bool is_expected = next < expected_->size() && (*expected_)[next] == place;
    return is_found != is_expected;
  }

  // Returns a node of a function with the values that the call gives; std::nullopt if it is unchanged.
  static std::optional<Node> as_called(const Node& node, const Scope& scope) {
    const auto refers = [](const auto& entry) { return !entry.second.of_caller.empty(); };
    const auto is_absent = [&](const std::string& name) { return scope.absent.contains(name); };
    if (std::ranges::none_of(node.attributes, refers) && std::ranges::none_of(node.inputs, is_absent)) return {};
    Node meant = node;
    for (std::string& input : meant.inputs) {
      if (is_absent(input)) input.clear();
    }
    for (const auto& [name, attribute] : node.attributes) {
      if (attribute.of_caller.empty()) continue;
      const Attribute* given = scope.call->find(attribute.of_caller);
      const auto by_default = scope.function->defaults.find(attribute.of_caller);
      if (given == nullptr && by_default != scope.function->defaults.end()) given = &by_default->second;
      if (given != nullptr) meant.attributes[name] = *given;
      if (given == nullptr) meant.attributes.erase(name);
    }
    return meant;
  }

  // Returns the ranges of a node's outputs. `error` receives the known error, if any.
  std::vector<ValueRange> after(const Node& node, const NetworkFacts& facts, Scope& scope, unsigned depth,
                                std::string* error) {
    static const ValueRange kUnknown = ValueRange::any(ElementType::kF32);
    const std::size_t count = node.inputs.size();
    std::vector<const ValueRange*> inputs(count);
    const std::unique_ptr<bool[]> constants(new bool[count + 1]());
    for (std::size_t i = 0; i < count; ++i) {
      if (node.inputs[i].empty()) continue;
      inputs[i] = scope.find(node.inputs[i], &constants[i]);
      if (inputs[i] == nullptr) inputs[i] = &kUnknown;
    }
    const std::span<const bool> are_constant(constants.get(), count);
    const auto function = model_.functions.find(function_key(node.domain, node.op, node.overload));
    std::vector<ValueRange> made;
    if (function != model_.functions.end() || has_networks(node)) {
      const std::string before = std::exchange(within_, "");
      if (depth >= kDepthMax) {
        within_ = "nodes that are nested deeper than is examined";
      } else if (function != model_.functions.end()) {
        made = called(*function->second, node, inputs, are_constant, depth);
      } else {
        made = branched(node, scope, depth);
      }
      made.resize(std::max(made.size(), node.outputs.size()), kUnknown);
      const std::string found = std::exchange(within_, before);
      if (error != nullptr && !found.empty()) *error = "has " + found;
    } else {
      made = ranges_after(node, inputs);
    }
    if (error == nullptr || !error->empty()) return made;
    *error = errors_.of({node, inputs, are_constant, made, facts.followers, facts.makers, facts.takers});
    if (!error->empty()) return made;
    // A vendor may have computed it before the run.
    bool is_same = true;
    for (std::size_t i = 0; i < count; ++i) {
      if (inputs[i] == nullptr || constants[i] || !inputs[i]->may_be_folded) continue;
      constants[i] = true;
      is_same = false;
    }
    if (!is_same) *error = errors_.of({node, inputs, are_constant, made, facts.followers, facts.makers, facts.takers});
    return made;
  }

  std::vector<ValueRange> called(const Network& function, const Node& call,
                                 const std::vector<const ValueRange*>& inputs, std::span<const bool> constants,
                                 unsigned depth) {
    Scope scope;
    scope.function = &function;
    scope.call = &call;
    for (std::size_t i = 0; i < function.inputs.size(); ++i) {
      if (i >= inputs.size() || inputs[i] == nullptr) {
        scope.absent.insert(function.inputs[i]);
        continue;
      }
      scope.ranges[function.inputs[i]] = *inputs[i];
      if (constants[i]) scope.constants.insert(function.inputs[i]);
    }
    return walk(function, scope, depth + 1);
  }

  std::vector<ValueRange> branched(const Node& node, const Scope& outer, unsigned depth) {
    std::vector<ValueRange> made(node.outputs.size(), ValueRange::any(ElementType::kF32));
    for (const auto& [name, attribute] : node.attributes) {
      for (const auto& network : attribute.networks) {
        Scope scope;
        scope.outer = &outer;
        scope.function = outer.function;
        scope.call = outer.call;
        scope.absent = outer.absent;
        for (const std::string& input : network->inputs) {
          const auto declared = network->declared.find(input);
          const bool is_typed = declared != network->declared.end() && declared->second.type;
          scope.ranges[input] = ValueRange::any(is_typed ? *declared->second.type : ElementType::kF32);
        }
        const std::vector<ValueRange> outputs = walk(*network, scope, depth + 1);
        // The first output of a loop's body is the condition.
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
  std::map<const Network*, std::unique_ptr<NetworkFacts>> facts_;
  Errors findings_;
  // The places with which finds() compares a walk; null during run().
  const std::vector<std::size_t>* expected_ = nullptr;
  bool is_different_ = false;  // the walk has ended early, at a node that differs from `expected_`
  std::size_t last_id_ = 0;
  std::string within_;  // the first error within a node
  std::size_t work_within_ = 0;
  std::size_t work_ = 0;
};

}  // namespace

KnownErrorReport find_known_errors(const OnnxNetwork& model, const KnownErrors& errors,
                                   const std::set<std::size_t>& left) {
  KnownErrorReport report;
  if (errors.empty()) return report;
  Walk walk(model, errors, left);
  Cares care;
  report.nodes = walk.run(care);
  const std::size_t once = walk.work();
  // Masks are assumed to be flags if that makes a difference: (1 - mask) times the lowest float must be finite.
  std::set<std::string> masks = report.nodes.empty() ? std::set<std::string>() : masks_of(model.network);
  for (auto mask = masks.begin(); mask != masks.end();) {
    const bool has_work_left = walk.work() + once <= kWorkToAskLessMax && walk.is_no_index(*mask);
    care[*mask] = Care::kFlags;
    auto nodes = has_work_left ? walk.run(care) : report.nodes;
    if (nodes.size() < report.nodes.size()) {
      report.nodes = std::move(nodes);
      ++mask;
    } else {
      care.erase(*mask);
      mask = masks.erase(mask);
    }
  }
  const Cares flags = care;
  std::vector<std::size_t> places;
  for (const auto& [place, why] : report.nodes)
    places.push_back(place);
  const auto is_enough = [&] { return walk.finds(care, places); };
  const std::vector<std::string>& inputs = model.network.inputs;
  // Asks of each input only as much as is necessary for the same result, and nothing if no input matters.
  for (const std::string& input : inputs)
    care[input] = Care::kNothing;
  if (walk.work() + once > kWorkToAskLessMax || !is_enough()) {
    care = flags;
    for (const std::string& input : inputs) {
      if (flags.contains(input)) continue;
      for (const Care less : {Care::kNothing, Care::kFits}) {
        if (walk.work() + once > kWorkToAskLessMax) break;
        const ElementType type = walk.of_input(input, Care::kNothing).type;
        if (less == Care::kFits && !is_wide(type) && !is_float(type)) break;
        care[input] = less;
        if (is_enough()) break;
        care.erase(input);
      }
    }
  }
  for (std::size_t place = 0; place < inputs.size(); ++place) {
    const auto asked = care.find(inputs[place]);
    if (asked != care.end() && asked->second == Care::kNothing) continue;
    const ValueRange range = walk.of_input(inputs[place], asked == care.end() ? Care::kOrdinary : asked->second);
    report.bounds.push_back(
        {inputs[place], place, range.low, range.high, range.may_be_nan, range.may_be_subnormal, range.may_be_empty});
  }
  return report;
}

}  // namespace latebind::onnx
