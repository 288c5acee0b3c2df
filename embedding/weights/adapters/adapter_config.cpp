#include "embedding/weights/adapters/adapter_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
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
constexpr std::array<std::string_view, 21> kWithoutEffect{
    "auto_mapping",    "base_model_class", "bias",           "corda_config",      "ensure_weight_tying",
    "eva_config",      "exclude_modules",  "inference_mode", "layers_pattern",    "layers_to_transform",
    "loftq_config",    "lora_dropout",     "lora_ga_config", "megatron_config",   "megatron_core",
    "modules_to_save", "parent_library",   "peft_version",   "qalora_group_size", "revision",
    "task_type"};
constexpr std::array<std::string_view, 13> kRead{
    "alpha_pattern", "base_model_name_or_path", "fan_in_fan_out", "init_lora_weights", "lora_alpha", "peft_type", "r",
    "rank_pattern",  "runtime_config",          "target_modules", "use_dora",          "use_rslora", "lora_bias"};

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

// Names with other characters are regular expressions.
bool is_plain_module(std::string_view name) {
  if (name.starts_with('^')) name.remove_prefix(1);
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
  });
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
    if (!is_plain_module(module)) {
      return unsupported_file(file, fmt::format("'{}' has '{}': regular expressions are not supported in it, "
                                                "supported are the names of modules",
                                                key, printable(module)));
    }
    if (!number.is_number() || !(number.get<double>() > 0) || number.get<double>() > most) {
      return invalid_file(file, fmt::format("'{}' has {} for '{}'; it must be a number above 0 and up to {}", key,
                                            core::printable_json(number), printable(module), most));
    }
    patterns.push_back({module, number.get<double>()});
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

Status read_targets(const Json& config, const path& file, AdapterConfig& adapter) {
  const Json* const found = core::find_member(config, "target_modules");
  if (found == nullptr || found->is_string()) return {};
  if (!found->is_array() || found->size() > kListMax)
    return invalid_file(file, "'target_modules' must be a text or a list of texts");
  auto& targets = adapter.targets.emplace();
  for (const Json& one : *found) {
    if (!one.is_string()) return invalid_file(file, "'target_modules' must be a text or a list of texts");
    targets.push_back(one.text());
  }
  return {};
}

bool ends_as_module(std::string_view module, std::string_view name) {
  return module == name ||
         (module.size() > name.size() && module.ends_with(name) && module[module.size() - name.size() - 1] == '.');
}

// Matches a module as PEFT's get_pattern_key() does.
bool matches(const AdapterConfig::Pattern& pattern, std::string_view module) {
  std::string_view wanted = pattern.module;
  const bool is_whole = wanted.starts_with('^');
  if (is_whole) wanted.remove_prefix(1);
  if (module.size() < wanted.size() || (is_whole && module.size() != wanted.size())) return false;
  const std::string_view end = module.substr(module.size() - wanted.size());
  if (module.size() > wanted.size() && module[module.size() - wanted.size() - 1] != '.') return false;
  return std::ranges::equal(wanted, end, [](char a, char b) { return a == '.' || a == b; });
}

double number_for(const std::vector<AdapterConfig::Pattern>& patterns, std::string_view module, double otherwise) {
  const auto found = std::ranges::find_if(patterns, [&](const auto& one) { return matches(one, module); });
  return found == patterns.end() ? otherwise : found->number;
}

}  // namespace

std::size_t AdapterConfig::rank_of(std::string_view module) const {
  return static_cast<std::size_t>(number_for(ranks, module, rank));
}

float AdapterConfig::scale_of(std::string_view module) const {
  const auto of_module = static_cast<double>(rank_of(module));
  return static_cast<float>(number_for(alphas, module, alpha) / (is_stabilized ? std::sqrt(of_module) : of_module));
}

bool AdapterConfig::is_target(std::string_view module) const {
  return !targets ||
         std::ranges::any_of(*targets, [&](const std::string& name) { return ends_as_module(module, name); });
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
    return invalid_file(
        file, fmt::format("'rank_pattern' has {} for '{}'; it must be a whole number", number, printable(module)));
  }
  LB_ASSIGN_OR_RETURN(adapter.alphas, read_patterns(config, "alpha_pattern", kAlphaMax, file));
  LB_RETURN_IF_ERROR(read_targets(config, file, adapter));
  return adapter;
}

}  // namespace latebind::embedding
