// The head of networks for masked language modelling, which turns a token's vector into a number per vocabulary entry.
// Sparse encoders are such networks.
//
// Source: the ForMaskedLM classes of transformers. Values; reading is a pure function, for any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/head_layer.h"

namespace latebind::embedding {

// The output of a network with this head.
inline constexpr std::string_view kTermLogits = "term_logits";

struct VocabularyHead {
  HeadLayer layer{};
  std::size_t width = 0;  // of its result; 0: the encoder's width
  // The tensors of the last layer. If the file lacks its matrix, the word embeddings are used, unless `may_be_words` is
  // false.
  std::string decoder{};
  bool may_be_words = true;
  // `other_bias` is the bias's alternative name, without ".bias" of the decoder's name.
  bool has_bias = true;
  std::string other_bias{};
};

// Reads the head from config.json. Returns kInvalidModel or kUnsupported, naming the key.
using ReadVocabularyHead = core::Result<VocabularyHead>(const core::Json& config, const std::filesystem::path& file);
ReadVocabularyHead read_albert_vocabulary_head;
ReadVocabularyHead read_bert_vocabulary_head;
ReadVocabularyHead read_deberta_vocabulary_head;
ReadVocabularyHead read_distilbert_vocabulary_head;
ReadVocabularyHead read_electra_vocabulary_head;
ReadVocabularyHead read_gte_vocabulary_head;
ReadVocabularyHead read_modernbert_vocabulary_head;
ReadVocabularyHead read_roberta_vocabulary_head;  // also MPNet

}  // namespace latebind::embedding
