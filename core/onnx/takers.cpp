#include "core/onnx/takers.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace latebind::onnx {
namespace {

// Operators that a vendor removes if they change nothing, such as a Slice of everything. All are counted as removed.
constexpr std::array<std::string_view, 17> kRemoved{"Cast",     "CastLike", "Concat", "Dropout", "Expand",   "Flatten",
                                                    "Identity", "Max",      "Mean",   "Min",     "Pad",      "Reshape",
                                                    "Slice",    "Squeeze",  "Sum",    "Tile",    "Unsqueeze"};
// Likewise, with a constant: x + 0, x * 1.
constexpr std::array<std::string_view, 5> kRemovedWithConstant{"Add", "Div", "Mul", "Pow", "Sub"};

bool is_listed(std::string_view op, auto const& list) {
  return std::ranges::find(list, op) != list.end();
}

using Names = std::set<std::string_view>;

// Returns the input that the node passes on unchanged, at least for some constants, or std::nullopt.
std::optional<std::size_t> passed_on(const Node& node, const Names& constants) {
  if (!node.domain.empty() || node.inputs.empty()) return {};
  if (is_listed(node.op, kRemovedWithConstant) && node.inputs.size() == 2) {
    if (constants.contains(node.inputs[1])) return 0;
    return constants.contains(node.inputs[0]) ? std::optional<std::size_t>(1) : std::nullopt;
  }
  const bool takes_many =
      node.op == "Concat" || node.op == "Max" || node.op == "Mean" || node.op == "Min" || node.op == "Sum";
  if (!is_listed(node.op, kRemoved) || (takes_many && node.inputs.size() > 1)) return {};
  return 0;
}

// Returns the permutation of a Transpose, or std::nullopt if it is not written out.
std::optional<std::vector<std::size_t>> permutation_of(const Node& node) {
  const Attribute* perm = node.find("perm");
  if (node.op != "Transpose" || !node.domain.empty() || perm == nullptr) return {};
  std::vector<std::size_t> places;
  for (std::size_t number = 0, at = 0; at <= perm->text.size(); ++at) {
    if (at == perm->text.size() || perm->text[at] == ',') {
      places.push_back(number);
      number = 0;
    } else if (perm->text[at] >= '0' && perm->text[at] <= '9') {
      number = number * 10 + static_cast<std::size_t>(perm->text[at] - '0');
    } else {
      return {};
    }
  }
  return places;
}

bool undoes(std::span<const std::size_t> second, std::span<const std::size_t> first) {
  if (first.size() != second.size()) return false;
  for (std::size_t i = 0; i < second.size(); ++i) {
    if (second[i] >= first.size() || first[second[i]] != i) return false;
  }
  return true;
}

struct Transposed {
  std::vector<std::size_t> places;
  std::string input;
};

}  // namespace

Takers::Takers(const Network& network) {
  Names constants;
  for (const auto& [name, constant] : network.constants)
    constants.insert(name);
  std::map<std::string, std::string> first_of;  // what a node computes -> the first node's output
  std::map<std::string, Transposed, std::less<>> transposed;
  for (const Node& node : network.nodes) {
    if (node.op == "Constant" && node.domain.empty()) constants.insert(node.outputs.begin(), node.outputs.end());
    std::set<std::string> taken;
    std::string computes = node.domain + ':' + node.op;
    bool is_comparable = !node.inputs.empty();
    for (const auto& [name, attribute] : node.attributes) {
      is_comparable = is_comparable && attribute.networks.empty() && !attribute.tensor && attribute.of_caller.empty();
      computes += '\n' + name + '=' + attribute.text;
    }
    for (const std::string& input : node.inputs) {
      const std::string& root = root_of(input);
      taken.insert(root);
      computes += '\n' + root;
    }
    for (const std::string& root : taken)
      ++counts_[{root, node.op}];
    const std::optional<std::size_t> passed = passed_on(node, constants);
    const auto permutation = permutation_of(node);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (passed && i == 0) {
        roots_[node.outputs[i]] = root_of(node.inputs[*passed]);
        continue;
      }
      if (permutation && !node.inputs.empty()) {
        const auto before = transposed.find(root_of(node.inputs[0]));
        if (before != transposed.end() && undoes(*permutation, before->second.places)) {
          roots_[node.outputs[i]] = before->second.input;
          continue;
        }
        transposed.try_emplace(node.outputs[i], *permutation, root_of(node.inputs[0]));
      }
      if (!is_comparable) continue;
      const auto [first, is_new] = first_of.try_emplace(computes + '\n' + std::to_string(i), node.outputs[i]);
      if (!is_new) roots_[node.outputs[i]] = root_of(first->second);
    }
  }
}

const std::string& Takers::root_of(const std::string& tensor) const {
  const auto found = roots_.find(tensor);
  return found == roots_.end() ? tensor : found->second;
}

unsigned Takers::count(const std::string& tensor, std::string_view op) const {
  const auto found = counts_.find({root_of(tensor), std::string(op)});
  return found == counts_.end() ? 0 : found->second;
}

}  // namespace latebind::onnx
