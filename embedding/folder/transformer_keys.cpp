#include "embedding/folder/transformer_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/json/read.h"
#include "core/text/quote.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::printable;
using core::printable_json;
using core::Status;
using std::filesystem::path;
using Names = std::span<const std::string_view>;

bool is_among(std::string_view word, Names words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_one_of(const Json& value, Names words) {
  return value.is_string() && is_among(value.text(), words);
}

bool is_true(const Json& value) {
  return value.is_boolean() && value.get<bool>();
}

Status refuse(const path& file, std::string_view key, const Json& value, std::string_view what) {
  return unsupported_file(file, fmt::format("'{}' is {}: {}", printable(key), printable_json(value), what));
}

// Arguments for loading the network, its configuration or its tokenizer. The program that loads the model sets them,
// whatever the file says.
constexpr std::array<std::string_view, 6> kSetByTheCaller{
    "subfolder", "token", "cache_dir", "revision", "local_files_only", "trust_remote_code"};
// How a network is computed, but not what it computes: Latebind sets the precision, whatever config.json says.
constexpr std::array<std::string_view, 4> kOfTheNetwork{"dtype", "torch_dtype", "attn_implementation", "device_map"};
constexpr std::array<std::string_view, 7> kOfTheConfig{"dtype",      "torch_dtype",  "attn_implementation",
                                                       "use_cache",  "unpad_inputs", "use_memory_efficient_attention",
                                                       "return_dict"};
constexpr std::array<std::string_view, 2> kOfTheTokenizer{"use_fast", "clean_up_tokenization_spaces"};

struct PassedOn {
  std::string_view key;
  std::string_view old_key;
  Names without_effect;
  std::string_view instead;
};
constexpr std::array<PassedOn, 3> kPassedOn{{
    {"model_kwargs", "model_args", kOfTheNetwork, "config.json alone says what the network is"},
    {"config_kwargs", "config_args", kOfTheConfig, "set it in config.json"},
    {"processor_kwargs", "tokenizer_args", kOfTheTokenizer,
     "set it in tokenizer_config.json (for 'model_max_length': 'max_seq_length' in this file)"},
}};

Status check_passed_on(const path& file, std::string_view key, const Json& value, const PassedOn& known) {
  if (!value.is_object()) return invalid_file(file, fmt::format("'{}' is not an object", key));
  for (const auto& [name, given] : value.members()) {
    if (is_among(name, kSetByTheCaller) || is_among(name, known.without_effect)) continue;
    return refuse(file, fmt::format("{}.{}", key, name), given, fmt::format("not supported here; {}", known.instead));
  }
  return {};
}

// Checks the arguments of the tokenizer's calls. Those for other media than text have no effect on texts.
Status check_processing(const path& file, const Json& value) {
  constexpr std::array<std::string_view, 2> kOfTexts{"text", "common"};
  static constexpr std::array<std::string_view, 1> kPadding{"longest"};
  static constexpr std::array<std::string_view, 1> kTruncation{"longest_first"};
  static constexpr std::array<std::string_view, 1> kTensors{"pt"};
  if (!value.is_object()) return invalid_file(file, "'processing_kwargs' is not an object");
  for (const auto& [kind, arguments] : value.members()) {
    if (!is_among(kind, kOfTexts) || arguments.is_null()) continue;
    if (!arguments.is_object()) {
      return invalid_file(file, fmt::format("'{}' of 'processing_kwargs' is not an object", kind));
    }
    for (const auto& [key, given] : arguments.members()) {
      const bool is_as_always = key == "padding"              ? is_true(given) || is_one_of(given, kPadding)
                                : key == "truncation"         ? is_true(given) || is_one_of(given, kTruncation)
                                : key == "return_tensors"     ? is_one_of(given, kTensors)
                                : key == "add_special_tokens" ? is_true(given)
                                : key == "max_length"         ? given.is_null()
                                                              : key == "verbose";
      if (is_as_always) continue;
      return refuse(file, fmt::format("processing_kwargs.{}.{}", kind, key), given,
                    "not supported; texts get their special tokens and are cut to 'max_seq_length'");
    }
  }
  return {};
}

// Checks the output of the network that is used for inputs of this kind.
Status check_modality(const path& file, std::string_view kind, const Json& given, std::string_view wanted) {
  if (!given.is_object()) return invalid_file(file, fmt::format("'{}' of 'modality_config' is not an object", kind));
  const auto method = given.find("method");
  const auto output = given.find("method_output_name");
  for (const auto& [key, found] : {std::pair("method", method), std::pair("method_output_name", output)}) {
    if (found == nullptr) {
      return invalid_file(file, fmt::format("'{}' of 'modality_config' has no '{}'", kind, key));
    }
  }
  if (*method != "forward") {
    return refuse(file, fmt::format("modality_config.{}.method", kind), *method, "supported is 'forward'");
  }
  const bool is_alone = output->is_array() && output->size() == 1;
  if ((is_alone ? output->front() : *output) == wanted) return {};
  return refuse(file, fmt::format("modality_config.{}.method_output_name", kind), *output,
                fmt::format("the modules of this model need '{}'", wanted));
}

// Checks the output of the network that is used for texts, and its name for the modules after it.
Status check_modalities(const path& file, const Json& config, const Json& modalities, const TransformerUse& use) {
  constexpr std::string_view kKey = "modality_config";
  const std::string_view wanted = use.takes_logits   ? "logits"
                                  : use.takes_pooler ? kPoolerOutput
                                                     : std::string_view("last_hidden_state");
  if (!modalities.is_object()) return invalid_file(file, fmt::format("'{}' is not an object", kKey));
  if (const Json* const message = core::find_member(modalities, "message"); message != nullptr) {
    if (!use.takes_messages) {
      return refuse(file, "modality_config.message", *message, "chat templates are supported of cross-encoders alone");
    }
    LB_RETURN_IF_ERROR(check_modality(file, "message", *message, wanted));
  }
  const auto text = modalities.find("text");
  if (text == nullptr) {
    return unsupported_file(file,
                            fmt::format("'{}' has no 'text': a model that takes no texts is not supported", kKey));
  }
  LB_RETURN_IF_ERROR(check_modality(file, "text", *text, wanted));
  const auto* const called = core::find_member(config, "module_output_name");
  if (called == nullptr) {
    return invalid_file(file, fmt::format("'{}' without 'module_output_name'", kKey));
  }
  if (*called == use.module_output_name) return {};
  return refuse(file, "module_output_name", *called,
                fmt::format("the modules of this model need '{}'", use.module_output_name));
}

// The arguments of the reference, in its order, with the old names of those that are passed on.
constexpr std::array<std::string_view, 19> kKnown{"max_seq_length",
                                                  "do_lower_case",
                                                  "transformer_task",
                                                  "modality_config",
                                                  "module_output_name",
                                                  "unpad_inputs",
                                                  "query_length",
                                                  "document_length",
                                                  "query_expansion",
                                                  "processing_kwargs",
                                                  "model_kwargs",
                                                  "config_kwargs",
                                                  "processor_kwargs",
                                                  "model_args",
                                                  "config_args",
                                                  "tokenizer_args",
                                                  "backend",
                                                  "cache_dir",
                                                  "tokenizer_name_or_path"};

Status check_key(const path& file, const Json& config, const std::string& key, const Json& value,
                 const TransformerUse& use) {
  if (!is_among(key, kKnown)) {
    return unsupported_file(file, fmt::format("'{}' is a key that sentence-transformers does not take; it takes {}",
                                              printable(key), fmt::join(kKnown, ", ")));
  }
  // Null is the same as an absent key.
  if (value.is_null()) return {};
  for (const PassedOn& known : kPassedOn) {
    if (key == known.key || key == known.old_key) return check_passed_on(file, key, value, known);
  }
  if (key == "processing_kwargs") return check_processing(file, value);
  if (key == "modality_config") return check_modalities(file, config, value, use);
  if (key == "tokenizer_name_or_path") {
    return refuse(file, key, value, "the tokenizer beside the model is the only one that is read; leave the key out");
  }
  const bool is_of_roles = key == "query_length" || key == "document_length" || key == "query_expansion";
  if (is_of_roles && !use.has_roles) {
    return refuse(file, key, value, "supported of multi-vector encoders alone; 'max_seq_length' is for all texts");
  }
  return {};
}

}  // namespace

bool asks_for_pooler(const Json& config) {
  const auto* const called = core::find_member(config, "module_output_name");
  const auto* const modalities = core::find_member(config, "modality_config");
  const auto* const text = modalities != nullptr ? core::find_member(*modalities, "text") : nullptr;
  const auto* const output = text != nullptr ? core::find_member(*text, "method_output_name") : nullptr;
  if (output == nullptr || called == nullptr || *called != "sentence_embedding") return false;
  const bool is_alone = output->is_array() && output->size() == 1;
  return (is_alone ? output->front() : *output) == kPoolerOutput;
}

Status check_transformer_keys(const ConfigFile& of_transformer, const TransformerUse& use) {
  const auto& [file, config] = of_transformer;
  if (!config) return {};
  for (const auto& [key, value] : config->members())
    LB_RETURN_IF_ERROR(check_key(file, *config, key, value, use));
  return {};
}

}  // namespace latebind::embedding
