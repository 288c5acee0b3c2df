#include "core/onnx/known_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace latebind::onnx {
namespace {

using core::ElementType;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::array<std::string_view, 12> kConditions{"any",   "attr", "before", "const", "in",  "may",
                                                       "no-in", "odd",  "out",    "rank",  "run", "type"};

std::vector<std::string_view> parts_of(std::string_view text, char between) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(between, at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

KnownErrors::Condition condition_of(std::string_view text) {
  KnownErrors::Condition condition;
  const std::size_t colon = std::min(text.find(':'), text.size());
  condition.kind = text.substr(0, colon);
  std::string_view about = text.substr(std::min(colon + 1, text.size()));
  if (const std::size_t equals = about.find('='); equals != std::string_view::npos) {
    condition.has_value = true;
    condition.value = about.substr(equals + 1);
    condition.is_not = equals > 0 && about[equals - 1] == '!';
    about = about.substr(0, equals - (condition.is_not ? 1 : 0));
  }
  condition.about = about;
  std::from_chars(about.data(), about.data() + about.size(), condition.place);
  return condition;
}

bool is_sensible(const KnownErrors::Condition& condition) {
  const auto& [kind, about, value, is_not, has_value, place] = condition;
  if (std::ranges::find(kConditions, kind) == kConditions.end() || about.empty()) return false;
  if (kind == "attr" || kind == "before") return true;
  if (kind == "may") return !has_value && std::ranges::find(kNumberKinds, about) != kNumberKinds.end();
  if (kind == "any") return !has_value && core::element_type_from_name(about).has_value();
  const bool is_number = std::ranges::all_of(about, [](char c) { return c >= '0' && c <= '9'; });
  return is_number && has_value == (kind == "type" || kind == "rank");
}

// Whether an index may be one that the data does not have. Sizes are taken to be within what they count.
bool may_be_outside(const KnownErrors::Case& one) {
  if (one.inputs.size() < 2 || one.inputs[0] == nullptr || one.inputs[1] == nullptr) return false;
  const ValueRange& data = *one.inputs[0];
  const ValueRange& index = *one.inputs[1];
  if (index.is_size) return false;
  if (!data.has_shape || data.shape.empty()) return true;
  if (one.node.op == "GatherND") {
    // Of which dimensions its indices are depends on their number.
    const std::int64_t least = *std::ranges::min_element(data.shape);
    return least < 0 || index.low < static_cast<double>(-least) || index.high > static_cast<double>(least - 1);
  }
  const Attribute* axis = one.node.find("axis");
  std::int64_t place = axis != nullptr && axis->integer ? *axis->integer : 0;
  const auto rank = static_cast<std::int64_t>(data.shape.size());
  if (place < 0) place += rank;
  if (place < 0 || place >= rank) return true;
  const std::int64_t size = data.shape[static_cast<std::size_t>(place)];
  return size < 0 || index.low < static_cast<double>(-size) || index.high > static_cast<double>(size - 1);
}

bool takes_limits(std::string_view op) {
  static constexpr std::array<std::string_view, 6> kTakeLimits{"Clip", "Expand", "Pad", "Reshape", "Slice", "TopK"};
  return std::ranges::find(kTakeLimits, op) != kTakeLimits.end();
}

bool may_be(std::string_view kind, const KnownErrors::Case& one) {
  const auto any_input = [&](const auto& holds) {
    return std::ranges::any_of(one.inputs, [&](const ValueRange* range) { return range != nullptr && holds(*range); });
  };
  const auto any_float = [&](const auto& holds) {
    return any_input([&](const ValueRange& range) { return is_float(range.type) && holds(range); });
  };
  if (kind == "nan") return any_float([](const ValueRange& range) { return range.may_be_nan; });
  if (kind == "inf") return any_float([](const ValueRange& range) { return range.high == kInfinite; });
  if (kind == "minus-inf") return any_float([](const ValueRange& range) { return range.low == -kInfinite; });
  if (kind == "subnormal") return any_float([](const ValueRange& range) { return range.may_be_subnormal; });
  if (kind == "large") return any_float([](const ValueRange& range) { return range.largest() > 2'147'483'648.0; });
  if (kind == "huge") {
    return any_float([](const ValueRange& range) {
      return range.largest() > (range.type == ElementType::kF16 ? 16'384 : 1.2676506002282294e30);
    });
  }
  if (kind == "empty") return any_input([](const ValueRange& range) { return range.may_be_empty; });
  if (kind == "outside") return may_be_outside(one);
  if (kind == "wrap") {
    return std::ranges::any_of(one.outputs, [](const ValueRange& range) {
      return !is_float(range.type) && range.type != ElementType::kBool && !(range.is_size && is_wide(range.type)) &&
             (range.exact_low < lowest_of(range.type) || range.exact_high > highest_of(range.type));
    });
  }
  const double low = kind == "beyond24" ? -16'777'216.0 : -2'147'483'648.0;
  const double high = kind == "beyond24" ? 16'777'216.0 : 2'147'483'647.0;
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    const ValueRange* range = one.inputs[i];
    if (range == nullptr || !is_wide(range->type)) continue;
    // Of a limit, the largest number means "all".
    if (one.constants[i] ? i > 0 && takes_limits(one.node.op) : range->is_size) continue;
    if (range->low < low || range->high > high) return true;
  }
  return std::ranges::any_of(one.outputs, [&](const ValueRange& range) {
    return is_wide(range.type) && !range.is_size && (range.exact_low < low || range.exact_high > high);
  });
}

bool has_type(const ValueRange& range, std::string_view names) {
  for (const std::string_view name : parts_of(names, '|')) {
    if (core::name_of(range.type) == name) return true;
  }
  return false;
}

bool holds(const KnownErrors::Condition& condition, const KnownErrors::Case& one) {
  const Node& node = one.node;
  const std::size_t i = condition.place;
  if (condition.kind == "may") return may_be(condition.about, one);
  if (condition.kind == "attr") {
    const Attribute* attribute = node.find(condition.about);
    return attribute != nullptr && (!condition.has_value || (attribute->text == condition.value) != condition.is_not);
  }
  if (condition.kind == "before") {
    return std::ranges::any_of(node.outputs, [&](const std::string& name) {
      return one.followers.contains({name, condition.about});
    });
  }
  if (condition.kind == "any") {
    const auto has = [&](const ValueRange& range) { return core::name_of(range.type) == condition.about; };
    return std::ranges::any_of(one.inputs, [&](const ValueRange* range) { return range != nullptr && has(*range); }) ||
           std::ranges::any_of(one.outputs, has);
  }
  if (condition.kind == "out") return i < node.outputs.size() && !node.outputs[i].empty();
  if (condition.kind == "in") return node.has_input(i);
  if (condition.kind == "no-in") return !node.has_input(i);
  if (!node.has_input(i) || i >= one.inputs.size() || one.inputs[i] == nullptr) return false;
  if (condition.kind == "run") return !one.constants[i];
  if (condition.kind == "const") return one.constants[i];
  if (condition.kind == "odd") {
    const ValueRange& range = *one.inputs[i];
    return range.low != range.high || std::fmod(range.low, 2) != 0;
  }
  if (condition.kind == "type") return has_type(*one.inputs[i], condition.value);
  return one.inputs[i]->has_shape && fmt::to_string(one.inputs[i]->shape.size()) == condition.value;
}

}  // namespace

Result<KnownErrors> KnownErrors::read(std::string_view table, std::string_view where,
                                      std::span<const std::string> runtimes) {
  KnownErrors all;
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
        rule.conditions.push_back(condition_of(condition));
        is_rule = is_rule && is_sensible(rule.conditions.back());
      }
    }
    if (!is_rule) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{}, line {}: '{}' must be OPERATOR, conditions and BACKEND VERSION, with tabs between",
                                where, number, line.substr(0, 80)));
    }
    all.rules_.push_back(std::move(rule));
  }
  const auto is_of = [](const std::string& runtime, const std::string& named) {
    return runtime.starts_with(named) && (runtime.size() == named.size() || runtime[named.size()] == '-');
  };
  const auto is_known = [&](const std::string& runtime) {
    return std::ranges::any_of(all.rules_, [&](const Rule& rule) { return is_of(runtime, rule.runtime); });
  };
  const auto backend = [](const std::string& runtime) { return runtime.substr(0, runtime.find(' ')); };
  KnownErrors kept;
  for (const Rule& rule : all.rules_) {
    const bool matters = std::ranges::any_of(runtimes, [&](const std::string& runtime) {
      return is_of(runtime, rule.runtime) || (backend(runtime) == backend(rule.runtime) && !is_known(runtime));
    });
    if (matters) kept.rules_.push_back(rule);
  }
  return kept;
}

std::string KnownErrors::of(const Case& one) const {
  if (!one.node.domain.empty()) return {};
  for (const Rule& rule : rules_) {
    if (rule.op != one.node.op && rule.op != "*") continue;
    const bool is_met =
        std::ranges::all_of(rule.conditions, [&](const Condition& condition) { return holds(condition, one); });
    if (!is_met) continue;
    std::string kinds;
    for (const Condition& condition : rule.conditions) {
      if (condition.kind == "may") kinds += (kinds.empty() ? " of numbers such as " : ", ") + condition.about;
    }
    return fmt::format("is computed otherwise than ONNX says by {}{}", rule.runtime, kinds);
  }
  return {};
}

}  // namespace latebind::onnx
