#include "core/onnx/known_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace latebind::onnx {
namespace {

using core::ElementType;
using core::Result;
using core::Status;
using core::StatusCode;

using ConditionKind = KnownErrors::ConditionKind;

// Indexed by ConditionKind.
constexpr std::array<std::string_view, 16> kConditions{"after", "any",  "attr",    "before", "const", "in",
                                                       "many",  "may",  "no-attr", "no-in",  "odd",   "opset",
                                                       "out",   "rank", "run",     "type"};

std::vector<std::string_view> parts_of(std::string_view text, char between) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(between, at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

constexpr std::uint32_t bit_of(ElementType type) {
  return std::uint32_t{1} << static_cast<unsigned>(type);
}

// Returns the index of `name` in `names`, or std::nullopt.
template <std::size_t Size>
std::optional<std::size_t> place_in(const std::array<std::string_view, Size>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

// Returns a bit for each type in a list such as "f32|f16"; unknown names have none.
std::uint32_t types_in(std::string_view names) {
  std::uint32_t types = 0;
  for (const std::string_view name : parts_of(names, '|')) {
    if (const auto type = core::element_type_from_name(name)) types |= bit_of(*type);
  }
  return types;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

constexpr std::string_view kBefore = "before ";
// In the place of an input.
constexpr std::string_view kAll = "all";

// Returns the backend of a runtime such as "openvino 2026.4.1-…".
std::string_view backend_of(std::string_view runtime) {
  return runtime.substr(0, runtime.find(' '));
}

std::string_view version_of(std::string_view runtime) {
  return runtime.substr(std::min(runtime.find(' '), runtime.size() - 1) + 1);
}

// Returns 2026, 4 and 1 for "2026.4.1-…".
std::vector<unsigned> numbers_of(std::string_view version) {
  std::vector<unsigned> numbers;
  for (const std::string_view part : parts_of(version.substr(0, version.find('-')), '.')) {
    unsigned number = 0;
    std::from_chars(part.data(), part.data() + part.size(), number);
    numbers.push_back(number);
  }
  return numbers;
}

// Whether `runtime` is the version that a line names, in any build.
bool is_version(std::string_view runtime, std::string_view named) {
  return runtime.starts_with(named) && (runtime.size() == named.size() || runtime[named.size()] == '-');
}

// Returns std::nullopt for text that is not valid.
std::optional<KnownErrors::Condition> condition_of(std::string_view text) {
  KnownErrors::Condition condition;
  const std::size_t colon = std::min(text.find(':'), text.size());
  const auto kind = place_in(kConditions, text.substr(0, colon));
  std::string_view about = text.substr(std::min(colon + 1, text.size()));
  if (const std::size_t equals = about.find('='); equals != std::string_view::npos) {
    condition.has_value = true;
    condition.value = about.substr(equals + 1);
    condition.is_not = equals > 0 && about[equals - 1] == '!';
    about = about.substr(0, equals - (condition.is_not ? 1 : 0));
  }
  if (!kind || about.empty()) return std::nullopt;
  condition.kind = static_cast<ConditionKind>(*kind);
  condition.about = about;
  std::from_chars(about.data(), about.data() + about.size(), condition.place);
  switch (condition.kind) {
    case ConditionKind::kAttribute:
    case ConditionKind::kBefore:
      return condition;
    case ConditionKind::kNoAttribute:
      if (condition.has_value) return std::nullopt;
      return condition;
    case ConditionKind::kOpset: {
      const std::size_t between = about.find("..");
      if (condition.has_value || between == std::string_view::npos) return std::nullopt;
      const std::string_view low = about.substr(0, between);
      const std::string_view high = about.substr(between + 2);
      if (!is_number(low) || !is_number(high)) return std::nullopt;
      std::from_chars(low.data(), low.data() + low.size(), condition.low);
      std::from_chars(high.data(), high.data() + high.size(), condition.high);
      return condition;
    }
    case ConditionKind::kMay: {
      const auto number = place_in(kNumberKinds, about);
      if (condition.has_value || !number) return std::nullopt;
      condition.number_kind = static_cast<NumberKind>(*number);
      return condition;
    }
    case ConditionKind::kAny:
      condition.types = types_in(about);
      if (condition.has_value || condition.types == 0) return std::nullopt;
      return condition;
    case ConditionKind::kType:
      condition.types = types_in(condition.value);
      if (!is_number(about) || condition.types == 0) return std::nullopt;
      return condition;
    case ConditionKind::kAfter:
      if (!is_number(about) || condition.value.empty() || condition.is_not) return std::nullopt;
      return condition;
    case ConditionKind::kRank:
      if (!is_number(about) || !is_number(condition.value)) return std::nullopt;
      std::from_chars(condition.value.data(), condition.value.data() + condition.value.size(), condition.rank);
      return condition;
    case ConditionKind::kConstant:
      if ((!is_number(about) && about != kAll) || condition.has_value) return std::nullopt;
      return condition;
    default:
      if (!is_number(about) || condition.has_value) return std::nullopt;
      return condition;
  }
}

// Returns the dimension of `data` that the attribute names, or -1.
std::int64_t axis_of(const Node& node, const ValueRange& data, std::int64_t otherwise) {
  const Attribute* axis = node.find("axis");
  std::int64_t place = axis != nullptr && axis->integer ? *axis->integer : otherwise;
  const auto rank = static_cast<std::int64_t>(data.shape.size());
  if (place < 0) place += rank;
  return place < rank ? place : -1;
}

// Whether a Compress may have more conditions than its data has elements.
bool may_choose_outside(const Node& node, const ValueRange& data, const ValueRange& condition) {
  if (!data.has_shape || !condition.has_shape || condition.shape.size() != 1 || condition.shape[0] < 0) return true;
  double size = 1;
  if (node.find("axis") == nullptr) {
    for (const std::int64_t dimension : data.shape)
      size *= static_cast<double>(dimension < 0 ? 0 : dimension);
  } else {
    const std::int64_t place = axis_of(node, data, 0);
    size = place < 0 ? 0 : static_cast<double>(data.shape[static_cast<std::size_t>(place)]);
  }
  return static_cast<double>(condition.shape[0]) > size;
}

// Whether an index may be outside of the data. Sizes are assumed to be valid indices, and so are the places that ArgMax
// and others find in tensors of unknown sizes.
bool may_be_outside(const KnownErrors::Case& one) {
  if (one.inputs.size() < 2 || one.inputs[0] == nullptr || one.inputs[1] == nullptr) return false;
  const ValueRange& data = *one.inputs[0];
  const ValueRange& index = *one.inputs[1];
  if (one.node.op == "Compress") return may_choose_outside(one.node, data, index);
  if (index.is_size && index.is_assumed) return false;
  if (!data.has_shape || data.shape.empty()) return !index.is_size;
  if (one.node.op == "GatherND") {
    if (index.is_size) return false;
    // The dimensions that the indices refer to depend on the number of indices.
    const std::int64_t least = *std::ranges::min_element(data.shape);
    return least < 0 || index.low < static_cast<double>(-least) || index.high > static_cast<double>(least - 1);
  }
  const std::int64_t place = axis_of(one.node, data, 0);
  if (place < 0) return true;
  const std::int64_t size = data.shape[static_cast<std::size_t>(place)];
  if (size < 0) return !index.is_size;
  return index.low < static_cast<double>(-size) || index.high > static_cast<double>(size - 1);
}

bool takes_limits(std::string_view op) {
  static constexpr std::array<std::string_view, 6> kTakeLimits{"Clip", "Expand", "Pad", "Reshape", "Slice", "TopK"};
  return std::ranges::find(kTakeLimits, op) != kTakeLimits.end();
}

bool may_wrap(const ValueRange& range) {
  return !is_float(range.type) && range.type != ElementType::kBool && !(range.is_size && is_wide(range.type)) &&
         (range.exact_low < lowest_of(range.type) || range.exact_high > highest_of(range.type));
}

// Whether an integer among the inputs or the exact results may be outside of these limits.
bool may_be_beyond(double low, double high, const KnownErrors::Case& one) {
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    const ValueRange* range = one.inputs[i];
    if (range == nullptr || !is_wide(range->type)) continue;
    // The largest number means "all" if it is a limit.
    if (one.constants[i] ? i > 0 && takes_limits(one.node.op) : range->is_size) continue;
    if (range->low < low || range->high > high) return true;
  }
  return std::ranges::any_of(one.outputs, [&](const ValueRange& range) {
    return is_wide(range.type) && !range.is_size && (range.exact_low < low || range.exact_high > high);
  });
}

// Whether there may be more than one element.
bool may_be_many(const ValueRange& range) {
  const auto is_one = [](std::int64_t size) { return size == 0 || size == 1; };
  return !range.has_shape || !std::ranges::all_of(range.shape, is_one);
}

bool may_be(NumberKind kind, const KnownErrors::Case& one) {
  const auto any_input = [&](const auto& holds) {
    return std::ranges::any_of(one.inputs, [&](const ValueRange* range) { return range != nullptr && holds(*range); });
  };
  const auto any_float = [&](const auto& holds) {
    return any_input([&](const ValueRange& range) { return is_float(range.type) && holds(range); });
  };
  switch (kind) {
    case NumberKind::kNan:
      return any_float([](const ValueRange& range) { return range.may_be_nan; });
    case NumberKind::kInfinity:
      return any_float([](const ValueRange& range) { return range.high == kInfinite; });
    case NumberKind::kMinusInfinity:
      return any_float([](const ValueRange& range) { return range.low == -kInfinite; });
    case NumberKind::kSubnormal:
      return any_float([](const ValueRange& range) { return range.may_be_subnormal; });
    case NumberKind::kLarge:
      return any_float([](const ValueRange& range) { return range.largest() > 2'147'483'648.0; });
    case NumberKind::kHuge:
      return any_float([](const ValueRange& range) {
        return range.largest() > (range.type == ElementType::kF16 ? 16'384 : 1.2676506002282294e30);
      });
    case NumberKind::kEmpty:
      return any_input([](const ValueRange& range) { return range.may_be_empty; });
    case NumberKind::kOutside:
      return may_be_outside(one);
    case NumberKind::kWrap:
      return std::ranges::any_of(one.outputs, may_wrap);
    case NumberKind::kBeyond24:
      return may_be_beyond(-16'777'216.0, 16'777'216.0, one);
    case NumberKind::kBeyond31:
      return may_be_beyond(-2'147'483'648.0, 2'147'483'647.0, one);
  }
  return false;
}

bool all_are_constant(const KnownErrors::Case& one) {
  bool has_any = false;
  for (std::size_t i = 0; i < one.node.inputs.size(); ++i) {
    if (!one.node.has_input(i)) continue;
    if (!one.constants[i]) return false;
    has_any = true;
  }
  return has_any;
}

bool holds(const KnownErrors::Condition& condition, const KnownErrors::Case& one) {
  const Node& node = one.node;
  if (condition.kind == ConditionKind::kConstant && condition.about == kAll) return all_are_constant(one);
  const std::size_t i = condition.place;
  const auto has_type = [&](const ValueRange& range) { return (condition.types & bit_of(range.type)) != 0; };
  switch (condition.kind) {
    case ConditionKind::kMay:
      return may_be(condition.number_kind, one);
    case ConditionKind::kAttribute: {
      const Attribute* attribute = node.find(condition.about);
      return attribute != nullptr && (!condition.has_value || (attribute->text == condition.value) != condition.is_not);
    }
    case ConditionKind::kNoAttribute:
      return node.find(condition.about) == nullptr;
    case ConditionKind::kOpset:
      return node.opset == 0 || (node.opset >= condition.low && node.opset <= condition.high);
    case ConditionKind::kBefore:
      return std::ranges::any_of(node.outputs, [&](const std::string& name) {
        return one.followers.contains({name, condition.about});
      });
    case ConditionKind::kAfter: {
      if (!node.has_input(i)) return false;
      const auto maker = one.makers.find(node.inputs[i]);
      return maker != one.makers.end() && maker->second == condition.value;
    }
    case ConditionKind::kAny:
      return std::ranges::any_of(one.outputs, has_type) ||
             std::ranges::any_of(one.inputs,
                                 [&](const ValueRange* range) { return range != nullptr && has_type(*range); });
    case ConditionKind::kOutput:
      return i < node.outputs.size() && !node.outputs[i].empty();
    case ConditionKind::kInput:
      return node.has_input(i);
    case ConditionKind::kNoInput:
      return !node.has_input(i);
    default:
      break;
  }
  if (!node.has_input(i) || i >= one.inputs.size() || one.inputs[i] == nullptr) return false;
  const ValueRange& range = *one.inputs[i];
  switch (condition.kind) {
    case ConditionKind::kRun:
      return !one.constants[i];
    case ConditionKind::kConstant:
      return one.constants[i];
    case ConditionKind::kOdd:
      return range.low != range.high || std::fmod(range.low, 2) != 0;
    case ConditionKind::kType:
      return has_type(range);
    case ConditionKind::kMany:
      return may_be_many(range);
    default:
      return range.dimensions().value_or(condition.rank) == condition.rank;
  }
}

}  // namespace

Result<KnownErrors> KnownErrors::read(std::string_view table, std::string_view where,
                                      std::span<const std::string> runtimes) {
  std::vector<Rule> all;
  std::size_t number = 0;
  for (std::size_t at = 0; at < table.size();) {
    const std::size_t end = std::min(table.find('\n', at), table.size());
    std::string_view line = table.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line[0] == '#') continue;
    const std::size_t first = line.find('\t');
    const std::size_t second = first != std::string_view::npos ? line.find('\t', first + 1) : first;
    bool is_rule = second != std::string_view::npos && first > 0;
    Rule rule;
    if (is_rule) {
      rule.op = line.substr(0, first);
      rule.runtime = line.substr(second + 1);
      for (const std::string_view condition : parts_of(line.substr(first + 1, second - first - 1), ' ')) {
        auto read = condition_of(condition);
        is_rule = is_rule && read.has_value();
        if (read) rule.conditions.push_back(*std::move(read));
      }
    }
    if (!is_rule) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{}, line {}: '{}' must be OPERATOR, conditions and BACKEND VERSION, separated by tabs",
                                where, number, line.substr(0, 80)));
    }
    all.push_back(std::move(rule));
  }
  const auto is_named = [&](std::string_view runtime) {
    return std::ranges::any_of(all, [&](const Rule& rule) { return is_version(runtime, rule.runtime); });
  };
  KnownErrors kept;
  for (const Rule& rule : all) {
    const bool matters = std::ranges::any_of(runtimes, [&](const std::string& runtime) {
      if (backend_of(runtime) != backend_of(rule.runtime)) return false;
      const auto limit = version_of(rule.runtime);
      if (limit.starts_with(kBefore)) return numbers_of(version_of(runtime)) < numbers_of(limit.substr(kBefore.size()));
      return is_version(runtime, rule.runtime) || !is_named(runtime);
    });
    if (matters) kept.rules_[rule.op].push_back(rule);
  }
  return kept;
}

const KnownErrors::Rule* KnownErrors::met_by(const Case& one, std::string_view op) const {
  const auto rules = rules_.find(op);
  if (rules == rules_.end()) return nullptr;
  for (const Rule& rule : rules->second) {
    const auto is_met = [&](const Condition& condition) { return holds(condition, one); };
    if (std::ranges::all_of(rule.conditions, is_met)) return &rule;
  }
  return nullptr;
}

std::string KnownErrors::of(const Case& one) const {
  if (!one.node.domain.empty()) return {};
  const Rule* rule = met_by(one, one.node.op);
  if (rule == nullptr) rule = met_by(one, "*");
  if (rule == nullptr) return {};
  std::string kinds;
  for (const Condition& condition : rule->conditions) {
    if (condition.kind == ConditionKind::kMay)
      kinds += (kinds.empty() ? " of numbers such as " : ", ") + condition.about;
  }
  return fmt::format("is computed differently from ONNX by {}{}", rule->runtime, kinds);
}

}  // namespace latebind::onnx
