// The head of networks for sequence classification, which turns the encoder's token vectors into a number per label.
// Cross-encoders are such networks.
//
// Source: the ForSequenceClassification classes of transformers, and those published with GTE and JinaBERT. Values;
// reading is a pure function, for any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/operators.h"
#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/head_layer.h"

namespace latebind::embedding {

struct ClassifierHead {
  graph::PoolingMode pooling = graph::PoolingMode::kCls;
  std::vector<HeadLayer> layers{};  // as wide as the encoder; those inside the encoder come first
  // The layer that computes the numbers.
  std::string last = "classifier";
  bool last_bias = true;
  std::size_t labels = 1;
};

// Reads the head from config.json, except the number of labels. Returns kInvalidModel or kUnsupported, naming the key.
using ReadClassifierHead = core::Result<ClassifierHead>(const core::Json& config, const std::filesystem::path& file);
ReadClassifierHead read_pooler_head;   // BERT, JinaBERT, GTE
ReadClassifierHead read_albert_head;   // like the pooler head, with another name
ReadClassifierHead read_context_head;  // DeBERTa
ReadClassifierHead read_dense_head;    // RoBERTa, MPNet
ReadClassifierHead read_electra_head;
ReadClassifierHead read_distilbert_head;
ReadClassifierHead read_modernbert_head;
ReadClassifierHead read_modernbert_decoder_head;
ReadClassifierHead read_last_token_head;  // decoders

}  // namespace latebind::embedding
