#include "embedding/architectures/encoder_config.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "core/json/read.h"
#include "core/text/quote.h"
#include "embedding/architectures/architecture.h"
#include "embedding/folder/known_words.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Json;
using core::printable;
using core::Result;
using core::Status;
using graph::ActivationFunction;
using std::filesystem::path;

namespace {

// By their names in transformers.
constexpr std::pair<std::string_view, ActivationFunction> kActivationNames[] = {
    {"gelu", ActivationFunction::kGeluErf},
    {"gelu_python", ActivationFunction::kGeluErf},
    {"gelu_new", ActivationFunction::kGeluTanh},
    {"gelu_fast", ActivationFunction::kGeluTanh},
    {"gelu_pytorch_tanh", ActivationFunction::kGeluTanh},
    {"relu", ActivationFunction::kRelu},
    {"silu", ActivationFunction::kSilu},
    {"swish", ActivationFunction::kSilu},
    {"tanh", ActivationFunction::kTanh}};

}  // namespace

Status read_sizes(const Json& config, const path& file, std::initializer_list<SizeField> fields) {
  const std::string name = platform::path_to_utf8(file);
  for (const SizeField& field : fields) {
    LB_ASSIGN_OR_RETURN(const auto value, core::read_size(config, field.key, 1, field.most, name));
    if (!value) return invalid_file(file, fmt::format("'{}' is missing", field.key));
    *field.value = *value;
  }
  return {};
}

Status read_usual_sizes(const Json& config, const path& file, EncoderSizes& sizes) {
  LB_RETURN_IF_ERROR(read_sizes(config, file,
                                {{"hidden_size", kHiddenSizeMax, &sizes.hidden},
                                 {"num_hidden_layers", kLayersMax, &sizes.layers},
                                 {"num_attention_heads", kHeadsMax, &sizes.heads},
                                 {"intermediate_size", kIntermediateMax, &sizes.intermediate},
                                 {"vocab_size", kVocabularyMax, &sizes.vocabulary},
                                 {"max_position_embeddings", kTokensMax, &sizes.positions}}));
  return check_heads(sizes, file, "hidden_size", "num_attention_heads");
}

Status check_heads(const EncoderSizes& sizes, const path& file, std::string_view hidden_key,
                   std::string_view heads_key) {
  if (sizes.hidden % sizes.heads == 0) return {};
  return invalid_file(
      file, fmt::format("'{}' {} is not a multiple of '{}' {}", hidden_key, sizes.hidden, heads_key, sizes.heads));
}

Status check_padding(const EncoderSizes& sizes, const path& file, std::string_view padding_name) {
  if (!sizes.padding || *sizes.padding + 1 < sizes.positions) return {};
  return invalid_file(file, fmt::format("'max_position_embeddings' is {}, which leaves no position after {} {}",
                                        sizes.positions, padding_name, *sizes.padding));
}

Status read_epsilon(const Json& config, const char* key, const path& file, float& epsilon) {
  const auto* const given = core::find_member(config, key);
  if (given == nullptr) return {};
  const double value = given->is_number() ? given->get<double>() : -1;
  if (!(value >= 0 && value <= 0.1)) {
    return invalid_file(file,
                        fmt::format("'{}' is {}; it must be between 0 and 0.1", key, core::printable_json(*given)));
  }
  epsilon = static_cast<float>(value);
  return {};
}

Result<std::optional<float>> read_soft_cap(const Json& config, const char* key, const path& file,
                                           std::optional<float> otherwise) {
  constexpr double kCapMax = 1e6;
  const auto* const given = config.find(key);
  if (given == nullptr) return otherwise;
  if (given->is_null()) return std::optional<float>();
  const double number = given->is_number() ? given->get<double>() : 0;
  // A number may be above 0 in f64 and not in f32.
  if (number <= kCapMax && static_cast<float>(number) > 0) return std::optional(static_cast<float>(number));
  return invalid_file(file, fmt::format("'{}' is {}; it must be null or a number between 0 and {}", key,
                                        core::printable_json(*given), kCapMax));
}

Result<ActivationFunction> read_activation(const Json& config, const char* key, const path& file,
                                           std::string_view otherwise) {
  LB_ASSIGN_OR_RETURN(const std::string name, core::read_text(config, key, otherwise, platform::path_to_utf8(file)));
  std::vector<std::string_view> known;
  for (const auto& [word, function] : kActivationNames) {
    if (word == name) return function;
    known.push_back(word);
  }
  return unknown_word(file, key, name, known);
}

Status expect(const Json& config, const path& file, const char* key, const Json& expected) {
  const auto* const found = core::find_member(config, key);
  if (found == nullptr || *found == expected) return {};
  return unsupported_file(
      file, fmt::format("'{}' is {}; only {} is supported", key, core::printable_json(*found), expected.dump()));
}

Status refuse_variants(const Json& config, const path& file, std::string_view positions) {
  LB_RETURN_IF_ERROR(refuse_variants_of_all(config, file, positions));
  // If this is set, transformers uses causal attention, except for padded texts.
  return expect(config, file, "is_causal", false);
}

Status refuse_variants_of_all(const Json& config, const path& file, std::string_view positions) {
  const std::string name = platform::path_to_utf8(file);
  LB_ASSIGN_OR_RETURN(const std::string given, core::read_text(config, "position_embedding_type", positions, name));
  if (given != positions) {
    return unsupported_file(
        file, fmt::format("'position_embedding_type' is '{}'; only {} is supported", printable(given), positions));
  }
  for (const char* key : {"is_decoder", "add_cross_attention", "is_encoder_decoder"}) {
    LB_ASSIGN_OR_RETURN(const bool on, core::read_bool(config, key, false, name));
    if (on) return unsupported_file(file, fmt::format("'{}' is true: only encoders are supported", key));
  }
  return refuse_changed_layers(config, file);
}

Status refuse_changed_layers(const Json& config, const path& file) {
  const auto* const pruned = core::find_member(config, "pruned_heads");
  if (pruned != nullptr && !pruned->empty()) {
    return unsupported_file(file, "'pruned_heads' is not empty: pruned models are not supported");
  }
  if (config.contains("quantization_config")) {
    return unsupported_file(file, "'quantization_config': quantized checkpoints are not supported");
  }
  if (core::find_member(config, "per_layer_config") != nullptr) {
    return unsupported_file(file, "'per_layer_config': layers of different sizes are not supported");
  }
  return {};
}

}  // namespace latebind::embedding
