#include "embedding/architectures/vocabulary_head.h"

#include <string_view>
#include <utility>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "embedding/architectures/encoder.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using graph::ActivationFunction;
using std::filesystem::path;

namespace {

// Sets the tensors by their names. Assigned one by one, because GCC 12 destroys parts of a nested initializer twice if
// memory runs out in its middle.
VocabularyHead head_of(std::string_view dense, std::string_view norm, std::string_view decoder,
                       std::string_view other_bias = {}) {
  VocabularyHead head;
  head.layer.name = dense;
  head.layer.norm = norm;
  head.layer.activation = ActivationFunction::kGeluErf;
  head.decoder = decoder;
  head.other_bias = other_bias;
  return head;
}

// Unless config.json says otherwise, the last matrix is the word embeddings.
Result<VocabularyHead> with_tie(VocabularyHead head, const Json& config, const path& file) {
  LB_ASSIGN_OR_RETURN(head.may_be_words,
                      core::read_bool(config, "tie_word_embeddings", true, platform::path_to_utf8(file)));
  return head;
}

// Reads the width of word embeddings that differs from that of the layers.
core::Status read_words_width(const Json& config, const path& file, std::size_t& width) {
  return read_sizes(config, file, {{"embedding_size", kHiddenSizeMax, &width}});
}

}  // namespace

Result<VocabularyHead> read_albert_vocabulary_head(const Json& config, const path& file) {
  VocabularyHead head =
      head_of("predictions.dense", "predictions.LayerNorm", "predictions.decoder", "predictions.bias");
  LB_ASSIGN_OR_RETURN(head.layer.activation, read_activation(config, "hidden_act", file, "gelu_new"));
  LB_RETURN_IF_ERROR(read_words_width(config, file, head.width));
  return with_tie(std::move(head), config, file);
}

Result<VocabularyHead> read_bert_vocabulary_head(const Json& config, const path& file) {
  VocabularyHead head = head_of("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm",
                                "cls.predictions.decoder", "cls.predictions.bias");
  LB_ASSIGN_OR_RETURN(head.layer.activation, read_activation(config, "hidden_act", file));
  return with_tie(std::move(head), config, file);
}

Result<VocabularyHead> read_deberta_vocabulary_head(const Json& config, const path& file) {
  const std::string name = platform::path_to_utf8(file);
  LB_ASSIGN_OR_RETURN(const bool is_old, core::read_bool(config, "legacy", true, name));
  const std::string_view place = is_old ? "cls.predictions." : "lm_predictions.lm_head.";
  const std::string transform = std::string(place) + (is_old ? "transform." : "");
  VocabularyHead head =
      head_of(transform + "dense", transform + "LayerNorm",
              is_old ? "cls.predictions.decoder" : "lm_predictions.lm_head", is_old ? "cls.predictions.bias" : "");
  LB_ASSIGN_OR_RETURN(head.layer.activation, read_activation(config, "hidden_act", file));
  // The newer head always multiplies by the word embeddings.
  if (!is_old) return head;
  LB_ASSIGN_OR_RETURN(const auto width, core::read_size(config, "embedding_size", 1, kHiddenSizeMax, name));
  head.width = width.value_or(0);
  return with_tie(std::move(head), config, file);
}

Result<VocabularyHead> read_distilbert_vocabulary_head(const Json& config, const path& file) {
  VocabularyHead head = head_of("vocab_transform", "vocab_layer_norm", "vocab_projector");
  LB_ASSIGN_OR_RETURN(head.layer.activation, read_activation(config, "activation", file));
  return with_tie(std::move(head), config, file);
}

Result<VocabularyHead> read_electra_vocabulary_head(const Json& config, const path& file) {
  VocabularyHead head = head_of("generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head");
  LB_RETURN_IF_ERROR(read_words_width(config, file, head.width));
  return with_tie(std::move(head), config, file);
}

Result<VocabularyHead> read_gte_vocabulary_head(const Json& config, const path& file) {
  VocabularyHead head = head_of("lm_head.dense", "lm_head.norm", "lm_head.decoder");
  // transformers' class always uses GELU here.
  if (config.value("model_type", "") != "gte") {
    LB_ASSIGN_OR_RETURN(head.layer.activation, read_activation(config, "hidden_act", file));
  }
  return with_tie(std::move(head), config, file);
}

Result<VocabularyHead> read_modernbert_vocabulary_head(const Json& config, const path& file) {
  const std::string name = platform::path_to_utf8(file);
  VocabularyHead head = head_of("head.dense", "head.norm", "decoder");
  LB_ASSIGN_OR_RETURN(head.layer.has_bias, core::read_bool(config, "classifier_bias", false, name));
  LB_ASSIGN_OR_RETURN(head.layer.activation, read_activation(config, "classifier_activation", file));
  LB_ASSIGN_OR_RETURN(head.has_bias, core::read_bool(config, "decoder_bias", true, name));
  return with_tie(std::move(head), config, file);
}

Result<VocabularyHead> read_roberta_vocabulary_head(const Json& config, const path& file) {
  return with_tie(head_of("lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", "lm_head.bias"), config, file);
}

}  // namespace latebind::embedding
