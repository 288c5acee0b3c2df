// Reads the table of known errors.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/onnx/known_errors.h"

namespace latebind::onnx {
namespace {

using core::ElementType;
using core::Result;
using core::Status;
using core::StatusCode;

using ConditionKind = KnownErrors::ConditionKind;

// Indexed by ConditionKind.
constexpr std::array<std::string_view, 18> kConditions{"after", "any",   "attr", "before",  "beside", "const",
                                                       "in",    "many",  "may",  "no-attr", "no-in",  "odd",
                                                       "open",  "opset", "out",  "rank",    "run",    "type"};

std::vector<std::string_view> parts_of(std::string_view text, char between) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(between, at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
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
    if (const auto type = core::element_type_from_name(name)) types |= KnownErrors::bit_of(*type);
  }
  return types;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

constexpr std::string_view kBefore = "before ";

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
    case ConditionKind::kBeside:
      if (!is_number(about) || condition.value.empty() || condition.is_not) return std::nullopt;
      return condition;
    case ConditionKind::kRank:
      if (!is_number(about)) return std::nullopt;
      if (condition.value == KnownErrors::kOutput) return condition;
      if (!is_number(condition.value)) return std::nullopt;
      std::from_chars(condition.value.data(), condition.value.data() + condition.value.size(),
                      condition.rank.emplace());
      return condition;
    case ConditionKind::kConstant:
      if ((!is_number(about) && about != KnownErrors::kAll) || condition.has_value) return std::nullopt;
      return condition;
    case ConditionKind::kRun:
      if ((!is_number(about) && about != KnownErrors::kAnyInput) || condition.has_value) return std::nullopt;
      return condition;
    default:
      if (!is_number(about) || condition.has_value) return std::nullopt;
      return condition;
  }
}

}  // namespace

Result<std::vector<KnownErrors::Rule>> KnownErrors::rules_in(std::string_view table, std::string_view where) {
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
    const std::size_t begin = line[0] == '+' ? 1 : 0;
    bool is_rule = second != std::string_view::npos && first > begin;
    if (is_rule) {
      Rule rule;
      rule.takes = begin > 0;
      rule.runtime = line.substr(second + 1);
      for (const std::string_view condition : parts_of(line.substr(first + 1, second - first - 1), ' ')) {
        auto read = condition_of(condition);
        is_rule = is_rule && read.has_value() && !(rule.takes && read->kind == ConditionKind::kMay);
        if (read) rule.conditions.push_back(*std::move(read));
      }
      for (const std::string_view op : parts_of(line.substr(begin, first - begin), '|')) {
        rule.op = op;
        all.push_back(rule);
      }
    }
    if (!is_rule) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{}, line {}: '{}' must be OPERATOR, conditions and BACKEND VERSION, separated by tabs",
                                where, number, line.substr(0, 80)));
    }
  }
  return all;
}

Result<KnownErrors> KnownErrors::read(std::string_view table, std::string_view where,
                                      std::span<const std::string> runtimes) {
  LB_ASSIGN_OR_RETURN(const std::vector<Rule> all, rules_in(table, where));
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
    if (!matters) continue;
    Rules& rules = rule.takes ? kept.taken_[std::string(backend_of(rule.runtime))] : kept.rules_;
    rules[rule.op].push_back(rule);
    const auto is_beside = [](const Condition& condition) { return condition.kind == ConditionKind::kBeside; };
    if (std::ranges::any_of(rule.conditions, is_beside)) kept.beside_.insert(rule.op);
  }
  return kept;
}

}  // namespace latebind::onnx
