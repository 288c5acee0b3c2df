#include "hosts/onnxruntime/vendor_errors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>

#include "core/graph/onnx_types.h"
#include "hosts/onnxruntime/onnx_part.h"
#include "hosts/onnxruntime/vendor_errors_table.h"

namespace latebind::provider {
namespace {

constexpr std::array<std::string_view, 9> kConditions{"attr",  "in",   "no-in", "out",   "run",
                                                      "const", "type", "rank",  "before"};

std::vector<std::string_view> parts_of(std::string_view text, char between) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(between, at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// "type:1=f32" is of the kind "type", about "1", and wants "f32".
struct Condition {
  std::string_view kind;
  std::string_view about;
  std::string_view value;
  bool is_not = false;
  bool has_value = false;
  std::size_t place = 0;

  explicit Condition(std::string_view text) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    kind = text.substr(0, colon);
    about = text.substr(std::min(colon + 1, text.size()));
    if (const std::size_t equals = about.find('='); equals != std::string_view::npos) {
      has_value = true;
      value = about.substr(equals + 1);
      is_not = equals > 0 && about[equals - 1] == '!';
      about = about.substr(0, equals - (is_not ? 1 : 0));
    }
    std::from_chars(about.data(), about.data() + about.size(), place);
  }
  [[nodiscard]] bool is_sensible() const {
    if (std::ranges::find(kConditions, kind) == kConditions.end() || about.empty()) return false;
    if (kind == "attr" || kind == "before") return true;
    const bool is_number = std::ranges::all_of(about, [](char c) { return c >= '0' && c <= '9'; });
    return is_number && has_value == (kind == "type" || kind == "rank");
  }
};

// As the table has values; nothing where there is no such attribute.
std::optional<std::string> attribute_text(const Host& host, const abi::Node* node, const std::string& name) {
  const abi::OpAttr* attribute = nullptr;
  if (abi::Status* missing = host->Node_GetAttributeByName(node, name.c_str(), &attribute)) {
    host->ReleaseStatus(missing);
    return std::nullopt;
  }
  if (attribute == nullptr) return std::nullopt;
  abi::OpAttrType type{};
  host.check(host->OpAttr_GetType(attribute, &type));
  std::size_t size = 0;
  if (type == abi::kAttrInt) return std::to_string(int_attribute(host, node, name.c_str(), 0));
  if (type == abi::kAttrString) return attribute_bytes(host, attribute, type);
  if (type == abi::kAttrFloat) {
    float value = 0;
    host.check(host->ReadOpAttr(attribute, type, &value, sizeof value, &size));
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%g", static_cast<double>(value));
    return text.data();
  }
  if (type != abi::kAttrInts) return "";
  std::string text;
  for (const std::int64_t value : numbers_of<std::int64_t>(attribute_bytes(host, attribute, type)))
    text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

bool goes_into(const GraphView& graph, const NodeView& node, std::string_view op) {
  return std::ranges::any_of(graph.nodes(), [&](const NodeView& other) {
    return other.op == op && std::ranges::any_of(other.inputs, [&](const ValueView& input) {
             return input.raw != nullptr &&
                    std::ranges::find(node.outputs, input.name, &ValueView::name) != node.outputs.end();
           });
  });
}

bool holds(const Condition& condition, const GraphView& graph, const NodeView& node, std::span<const TypeView> inputs) {
  const std::size_t i = condition.place;
  if (condition.kind == "attr") {
    const auto text = attribute_text(graph.host(), node.raw, std::string(condition.about));
    return text && (!condition.has_value || (*text == condition.value) != condition.is_not);
  }
  if (condition.kind == "before") return goes_into(graph, node, condition.about);
  if (condition.kind == "out") return i < node.outputs.size() && node.outputs[i].raw != nullptr;
  const bool is_given = i < node.inputs.size() && node.inputs[i].raw != nullptr;
  if (condition.kind == "in") return is_given;
  if (condition.kind == "no-in") return !is_given;
  if (!is_given) return false;
  if (condition.kind == "run") return !graph.is_constant(node.inputs[i]);
  if (condition.kind == "const") return graph.is_constant(node.inputs[i]);
  if (condition.kind == "type") return core::name_of(static_cast<core::ElementType>(inputs[i].type)) == condition.value;
  return std::to_string(inputs[i].shape.size()) == condition.value;
}

}  // namespace

VendorErrors::VendorErrors(const std::string& file, const std::vector<std::string>& runtimes) {
  if (file.empty()) {
    read(kVendorErrorsTable, "the table of vendors' errors");
  } else {
    std::ifstream stream(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (!stream) throw Failure(abi::kNoSuchFile, "Latebind: " + file + ", which known_errors names, cannot be read");
    read(text, file);
  }
  keep_those_of(runtimes);
}

void VendorErrors::read(std::string_view text, const std::string& where) {
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const std::size_t first = line.find('\t');
    const std::size_t second = first != std::string_view::npos ? line.find('\t', first + 1) : first;
    bool is_sensible = second != std::string_view::npos && first > 0;
    Rule rule;
    if (is_sensible) {
      rule.op = line.substr(0, first);
      rule.runtime = line.substr(second + 1);
      for (const std::string_view condition : parts_of(line.substr(first + 1, second - first - 1), ' ')) {
        is_sensible = is_sensible && Condition(condition).is_sensible();
        rule.conditions.emplace_back(condition);
      }
    }
    if (!is_sensible) {
      throw Failure(abi::kInvalidArgument, "Latebind: " + where + ", line " + std::to_string(number) + ": '" +
                                               std::string(line.substr(0, 80)) +
                                               "' must be OPERATOR, conditions and BACKEND VERSION, with tabs between");
    }
    rules_.push_back(std::move(rule));
  }
}

void VendorErrors::keep_those_of(const std::vector<std::string>& runtimes) {
  const auto is_of = [](const std::string& runtime, const std::string& named) {
    return runtime.starts_with(named) && (runtime.size() == named.size() || runtime[named.size()] == '-');
  };
  const auto is_known = [&](const std::string& runtime) {
    return std::ranges::any_of(rules_, [&](const Rule& rule) { return is_of(runtime, rule.runtime); });
  };
  const auto backend = [](const std::string& runtime) { return runtime.substr(0, runtime.find(' ')); };
  std::vector<Rule> kept;
  for (const Rule& rule : rules_) {
    const bool matters = std::ranges::any_of(runtimes, [&](const std::string& runtime) {
      return is_of(runtime, rule.runtime) || (backend(runtime) == backend(rule.runtime) && !is_known(runtime));
    });
    if (matters) kept.push_back(rule);
  }
  rules_ = std::move(kept);
}

std::string VendorErrors::of(const GraphView& graph, const NodeView& node, std::span<const TypeView> inputs) const {
  for (const Rule& rule : rules_) {
    if (rule.op != node.op) continue;
    const bool is_met = std::ranges::all_of(rule.conditions, [&](const std::string& condition) {
      return holds(Condition(condition), graph, node, inputs);
    });
    if (is_met) return "is computed otherwise than ONNX says by " + rule.runtime;
  }
  return {};
}

}  // namespace latebind::provider
