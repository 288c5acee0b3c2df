#include "embedding/weights/adapters/adapter_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "core/text/ascii.h"
#include "core/text/quote.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::printable;
using core::Result;
using core::Status;
using std::filesystem::path;

constexpr std::size_t kRankMax = 16384;
constexpr double kAlphaMax = 1e6;
constexpr std::size_t kListMax = 16384;

// Keys that matter only for training, or that describe the file. The adapter's tensors determine which layers and
// matrices change.
constexpr std::array<std::string_view, 20> kWithoutEffect{"auto_mapping",
                                                          "base_model_class",
                                                          "bias",
                                                          "corda_config",
                                                          "ensure_weight_tying",
                                                          "eva_config",
                                                          "inference_mode",
                                                          "layers_pattern",
                                                          "layers_to_transform",
                                                          "loftq_config",
                                                          "lora_dropout",
                                                          "lora_ga_config",
                                                          "megatron_config",
                                                          "megatron_core",
                                                          "modules_to_save",
                                                          "parent_library",
                                                          "peft_version",
                                                          "qalora_group_size",
                                                          "revision",
                                                          "task_type"};
constexpr std::array<std::string_view, 14> kRead{"alpha_pattern",     "base_model_name_or_path",
                                                 "exclude_modules",   "fan_in_fan_out",
                                                 "init_lora_weights", "lora_alpha",
                                                 "peft_type",         "r",
                                                 "rank_pattern",      "runtime_config",
                                                 "target_modules",    "use_dora",
                                                 "use_rslora",        "lora_bias"};
// In place of a list: all linear layers.
constexpr std::string_view kAllLinear = "all-linear";

// Initialisations that leave the weights of the model as they are.
constexpr std::array<std::string_view, 3> kInitialisations{"gaussian", "eva", "orthogonal"};

bool says_nothing(const Json& value) {
  return value.is_null() || value == Json(false) || (value.is_structured() && value.empty());
}

Result<double> read_positive(const Json& config, const char* key, double otherwise, double most, const path& file) {
  const Json* const found = core::find_member(config, key);
  if (found == nullptr) return otherwise;
  const double number = found->is_number() ? found->get<double>() : 0;
  if (number > 0 && number <= most) return number;
  return invalid_file(file, fmt::format("'{}' is {}; it must be a number above 0 and up to {}", key,
                                        core::printable_json(*found), most));
}

Status in_key(const Status& status, const path& file, std::string_view key) {
  return status.with_context(fmt::format("{}: '{}'", platform::path_to_utf8(file), key));
}

Result<std::vector<AdapterConfig::Pattern>> read_patterns(const Json& config, const char* key, double most,
                                                          const path& file) {
  std::vector<AdapterConfig::Pattern> patterns;
  const Json* const found = core::find_member(config, key);
  if (found == nullptr) return patterns;
  if (!found->is_object() || found->size() > kListMax) {
    return invalid_file(file,
                        fmt::format("'{}' must be an object of at most {} numbers by their modules", key, kListMax));
  }
  for (const auto& [module, number] : found->members()) {
    if (!number.is_number() || !(number.get<double>() > 0) || number.get<double>() > most) {
      return invalid_file(file, fmt::format("'{}' has {} for '{}'; it must be a number above 0 and up to {}", key,
                                            core::printable_json(number), printable(module), most));
    }
    auto pattern = ModulePattern::make(module, ModulePattern::Scope::kEnd);
    if (!pattern.ok()) return in_key(pattern.status(), file, key);
    patterns.push_back({*std::move(pattern), number.get<double>()});
  }
  return patterns;
}

Status check_kind(const Json& config, const path& file) {
  const std::string name = platform::path_to_utf8(file);
  LB_ASSIGN_OR_RETURN(const std::string kind, core::read_text(config, "peft_type", "", name));
  if (kind != "LORA") {
    return unsupported_file(file, fmt::format("'peft_type' is '{}'; supported is LORA: merge the adapter into the "
                                              "weights (PEFT's merge_and_unload), and save the model without it",
                                              printable(kind)));
  }
  const Json* const start = core::find_member(config, "init_lora_weights");
  if (start != nullptr && !start->is_boolean() &&
      std::ranges::find(kInitialisations, start->text()) == kInitialisations.end()) {
    return unsupported_file(
        file, fmt::format("'init_lora_weights' is {}, which changes the weights of the model itself: convert the "
                          "adapter to LoRA (PEFT's save_pretrained with path_initial_model_for_weight_conversion)",
                          core::printable_json(*start)));
  }
  for (const auto& [key, value] : config.members()) {
    if (says_nothing(value)) continue;
    if (key == "lora_bias")
      return unsupported_file(file, "'lora_bias' is true: biases of the low-rank parts are not supported");
    const auto is_in = [&key = key](const auto& list) {
      return std::ranges::find(list, std::string_view(key)) != list.end();
    };
    if (is_in(kWithoutEffect) || is_in(kRead)) continue;
    return unsupported_file(file, fmt::format("'{}' is {}, which is not supported: merge the adapter into the weights "
                                              "(PEFT's merge_and_unload), and save the model without it",
                                              printable(key), core::printable_json(value)));
  }
  return {};
}

// Returns std::nullopt without the key, and for "all-linear".
Result<std::optional<AdapterConfig::Modules>> read_modules_of(const Json& config, const char* key, const path& file) {
  const Json* const found = core::find_member(config, key);
  if (found == nullptr) return std::optional<AdapterConfig::Modules>();
  if (found->is_string()) {
    if (core::equals_in_any_case(found->text(), kAllLinear)) return std::optional<AdapterConfig::Modules>();
    auto pattern = ModulePattern::make(found->text(), ModulePattern::Scope::kWhole);
    if (!pattern.ok()) return in_key(pattern.status(), file, key);
    return std::optional<AdapterConfig::Modules>(*std::move(pattern));
  }
  const auto wrong = [&] { return invalid_file(file, fmt::format("'{}' must be a text or a list of texts", key)); };
  if (!found->is_array() || found->size() > kListMax) return wrong();
  std::vector<std::string> names;
  for (const Json& one : *found) {
    if (!one.is_string()) return wrong();
    names.push_back(one.text());
  }
  return std::optional<AdapterConfig::Modules>(std::move(names));
}

bool ends_as_module(std::string_view module, std::string_view name) {
  return module == name ||
         (module.size() > name.size() && module.ends_with(name) && module[module.size() - name.size() - 1] == '.');
}

Result<bool> are_among(const AdapterConfig::Modules& modules, std::string_view module) {
  if (const auto* const pattern = std::get_if<ModulePattern>(&modules)) return pattern->matches(module);
  const auto& names = std::get<std::vector<std::string>>(modules);
  return std::ranges::any_of(names, [&](const std::string& name) { return ends_as_module(module, name); });
}

// Returns the number of the first pattern that matches, as PEFT's get_pattern_key() finds it.
Result<double> number_for(const std::vector<AdapterConfig::Pattern>& patterns, std::string_view module,
                          double otherwise) {
  for (const auto& [pattern, number] : patterns) {
    LB_ASSIGN_OR_RETURN(const bool matches, pattern.matches(module));
    if (matches) return number;
  }
  return otherwise;
}

}  // namespace

Result<std::size_t> AdapterConfig::rank_of(std::string_view module) const {
  LB_ASSIGN_OR_RETURN(const double number, number_for(ranks, module, rank));
  return static_cast<std::size_t>(number);
}

Result<float> AdapterConfig::scale_of(std::string_view module) const {
  LB_ASSIGN_OR_RETURN(const std::size_t of_module, rank_of(module));
  LB_ASSIGN_OR_RETURN(const double number, number_for(alphas, module, alpha));
  const auto divisor = static_cast<double>(of_module);
  return static_cast<float>(number / (is_stabilized ? std::sqrt(divisor) : divisor));
}

Result<bool> AdapterConfig::is_target(std::string_view module) const {
  if (excluded) {
    LB_ASSIGN_OR_RETURN(const bool is_excluded, are_among(*excluded, module));
    if (is_excluded) return false;
  }
  return targets ? are_among(*targets, module) : Result<bool>(true);
}

Result<AdapterConfig> read_adapter_config(const Json& config, const path& file) {
  LB_RETURN_IF_ERROR(check_kind(config, file));
  AdapterConfig adapter{.file = platform::path_to_utf8(file)};
  LB_ASSIGN_OR_RETURN(adapter.base, core::read_text(config, "base_model_name_or_path", "", adapter.file));
  LB_ASSIGN_OR_RETURN(const auto rank, core::read_size(config, "r", 1, kRankMax, adapter.file));
  adapter.rank = static_cast<double>(rank.value_or(8));
  LB_ASSIGN_OR_RETURN(adapter.alpha, read_positive(config, "lora_alpha", 8, kAlphaMax, file));
  LB_ASSIGN_OR_RETURN(adapter.is_stabilized, core::read_bool(config, "use_rslora", false, adapter.file));
  LB_ASSIGN_OR_RETURN(adapter.is_dora, core::read_bool(config, "use_dora", false, adapter.file));
  LB_ASSIGN_OR_RETURN(adapter.ranks, read_patterns(config, "rank_pattern", kRankMax, file));
  for (const auto& [module, number] : adapter.ranks) {
    if (number == std::floor(number)) continue;
    return invalid_file(file, fmt::format("'rank_pattern' has {} for '{}'; it must be a whole number", number,
                                          printable(module.expression())));
  }
  LB_ASSIGN_OR_RETURN(adapter.alphas, read_patterns(config, "alpha_pattern", kAlphaMax, file));
  LB_ASSIGN_OR_RETURN(adapter.targets, read_modules_of(config, "target_modules", file));
  LB_ASSIGN_OR_RETURN(adapter.excluded, read_modules_of(config, "exclude_modules", file));
  return adapter;
}

}  // namespace latebind::embedding
