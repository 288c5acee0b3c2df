#include "embedding/architectures/classifier_head.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "core/json/read.h"
#include "embedding/architectures/encoder.h"
#include "embedding/folder/known_words.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using graph::ActivationFunction;
using std::filesystem::path;

namespace {

ClassifierHead dense_and_out(ActivationFunction activation) {
  return {.layers = {{.name = "classifier.dense", .activation = activation}}, .last = "classifier.out_proj"};
}

}  // namespace

Result<ClassifierHead> read_pooler_head(const Json& /*config*/, const path& /*file*/) {
  return ClassifierHead{.layers = {{.name = "pooler.dense", .in_encoder = true}}};
}

Result<ClassifierHead> read_albert_head(const Json& /*config*/, const path& /*file*/) {
  return ClassifierHead{.layers = {{.name = "pooler", .in_encoder = true}}};
}

Result<ClassifierHead> read_context_head(const Json& config, const path& file) {
  // The two widths differ only if config.json has both keys.
  if (const auto* const width = core::find_member(config, "pooler_hidden_size")) {
    const auto* const hidden = core::find_member(config, "hidden_size");
    if (hidden == nullptr || *width != *hidden) {
      return unsupported_file(
          file, fmt::format("'pooler_hidden_size' is {}, which is not 'hidden_size'", core::printable_json(*width)));
    }
  }
  LB_ASSIGN_OR_RETURN(const ActivationFunction activation, read_activation(config, "pooler_hidden_act", file));
  return ClassifierHead{.layers = {{.name = "pooler.dense", .activation = activation}}};
}

Result<ClassifierHead> read_dense_head(const Json& /*config*/, const path& /*file*/) {
  return dense_and_out(ActivationFunction::kTanh);
}

Result<ClassifierHead> read_electra_head(const Json& /*config*/, const path& /*file*/) {
  return dense_and_out(ActivationFunction::kGeluErf);
}

Result<ClassifierHead> read_distilbert_head(const Json& /*config*/, const path& /*file*/) {
  return ClassifierHead{.layers = {{.name = "pre_classifier", .activation = ActivationFunction::kRelu}}};
}

Result<ClassifierHead> read_modernbert_head(const Json& config, const path& file) {
  constexpr std::array<std::string_view, 2> kModes{"cls", "mean"};
  LB_ASSIGN_OR_RETURN(const std::string pooling, read_word(config, "classifier_pooling", file, kModes));
  LB_ASSIGN_OR_RETURN(const bool has_bias,
                      core::read_bool(config, "classifier_bias", false, platform::path_to_utf8(file)));
  LB_ASSIGN_OR_RETURN(const ActivationFunction activation, read_activation(config, "classifier_activation", file));
  return ClassifierHead{
      .pooling = pooling == "cls" ? graph::PoolingMode::kCls : graph::PoolingMode::kMean,
      .layers = {{.name = "head.dense", .has_bias = has_bias, .activation = activation, .norm = "head.norm"}}};
}

Result<ClassifierHead> read_modernbert_decoder_head(const Json& config, const path& file) {
  LB_ASSIGN_OR_RETURN(const bool has_bias,
                      core::read_bool(config, "classifier_bias", false, platform::path_to_utf8(file)));
  LB_ASSIGN_OR_RETURN(const ActivationFunction activation, read_activation(config, "classifier_activation", file));
  return ClassifierHead{
      .pooling = graph::PoolingMode::kLastToken,
      .layers = {{.name = "head.dense", .has_bias = has_bias, .activation = activation, .norm = "head.norm"}},
      .last_bias = has_bias};
}

Result<ClassifierHead> read_last_token_head(const Json& /*config*/, const path& /*file*/) {
  return ClassifierHead{.pooling = graph::PoolingMode::kLastToken, .last = "score", .last_bias = false};
}

}  // namespace latebind::embedding
