// The BERT family as a Graph: embeddings, encoder layers, pooling.
//
// Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers" (2018), with the names of tensors that
// transformers' BertModel gives. Pooling as sentence-transformers defines it.
#pragma once

#include "core/graph/graph.h"
#include "core/result.h"
#include "embedding/build_model.h"
#include "embedding/safetensors.h"

namespace latebind::embedding {

// `folder.bert` must be set. Inputs `input_ids` and `attention_mask`, i64 [batch, tokens], texts padded at their ends;
// output `sentence_embedding` [batch, hidden], or `last_hidden_state` [batch, tokens, hidden] when the options say so.
// kInvalidModel or kUnsupported, naming the tensor. The graph keeps `weights.part()`.
[[nodiscard]] core::Result<graph::Graph> make_bert_graph(const ModelFolder& folder, const Safetensors& weights,
                                                         const GraphOptions& options);

}  // namespace latebind::embedding
