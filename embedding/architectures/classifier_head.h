// What networks for sequence classification have on their encoders: from the tokens' vectors to a number for each
// label. Cross-encoders are such networks.
//
// Source: the ForSequenceClassification classes of transformers, and those that GTE's and JinaBERT's files bring along.
// Values; reading is a pure function, for any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/operators.h"
#include "core/json.h"
#include "core/result.h"
#include "embedding/architectures/head_layer.h"

namespace latebind::embedding {

struct ClassifierHead {
  graph::PoolingMode pooling = graph::PoolingMode::kCls;
  std::vector<HeadLayer> layers{};  // as wide as the encoder, those in it first
  // The last one gives the numbers.
  std::string last = "classifier";
  bool last_bias = true;
  std::size_t labels = 1;
};

// By config.json, except its number of labels. kInvalidModel or kUnsupported, naming the key.
using ReadClassifierHead = core::Result<ClassifierHead>(const nlohmann::json& config,
                                                        const std::filesystem::path& file);
ReadClassifierHead read_pooler_head;  // BERT's, JinaBERT's and GTE's
ReadClassifierHead read_albert_head;  // the same under another name
ReadClassifierHead read_dense_head;   // RoBERTa's and MPNet's
ReadClassifierHead read_electra_head;
ReadClassifierHead read_distilbert_head;
ReadClassifierHead read_modernbert_head;
ReadClassifierHead read_last_token_head;  // decoders'

}  // namespace latebind::embedding
