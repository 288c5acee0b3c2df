// What networks for masked language modelling have on their encoders: from a token's vector to a number for each entry
// of the vocabulary. Sparse encoders are such networks.
//
// Source: the ForMaskedLM classes of transformers. Values; reading is a pure function, for any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/json.h"
#include "core/result.h"
#include "embedding/architectures/head_layer.h"

namespace latebind::embedding {

// The output of a network with one.
inline constexpr std::string_view kTermLogits = "term_logits";

struct VocabularyHead {
  HeadLayer layer{};
  std::size_t width = 0;  // of its result; 0: as wide as the encoder
  // The tensors of the last layer. Where its file has none of the matrix, it is the table of the words, unless that is
  // excluded.
  std::string decoder{};
  bool may_be_words = true;
  // None where it has no bias; without ".bias" of the decoder's name, where its file has it under another one.
  bool has_bias = true;
  std::string other_bias{};
};

// By config.json. kInvalidModel or kUnsupported, naming the key.
using ReadVocabularyHead = core::Result<VocabularyHead>(const nlohmann::json& config,
                                                        const std::filesystem::path& file);
ReadVocabularyHead read_albert_vocabulary_head;
ReadVocabularyHead read_bert_vocabulary_head;
ReadVocabularyHead read_distilbert_vocabulary_head;
ReadVocabularyHead read_electra_vocabulary_head;
ReadVocabularyHead read_modernbert_vocabulary_head;
ReadVocabularyHead read_roberta_vocabulary_head;  // MPNet's, too

}  // namespace latebind::embedding
