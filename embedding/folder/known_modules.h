// The modules of sentence-transformers that Latebind knows, for messages about others. Constant, for any thread.
#pragma once

#include <array>
#include <string_view>

namespace latebind::embedding {

// Of a model whose texts become vectors, terms or scores, and of a late-interaction model, whose tokens do.
inline constexpr std::array<std::string_view, 12> kModules{
    "sentence_transformers.models.Transformer",
    "sentence_transformers.models.Pooling",
    "sentence_transformers.models.StaticEmbedding",
    "sentence_transformers.models.Dense",
    "sentence_transformers.models.LayerNorm",
    "sentence_transformers.models.Dropout",
    "sentence_transformers.models.Normalize",
    "sentence_transformers.models.Router",
    "sentence_transformers.cross_encoder.modules.LogitScore",
    "sentence_transformers.sparse_encoder.models.SpladePooling",
    "sentence_transformers.sparse_encoder.models.SparseAutoEncoder",
    "sentence_transformers.sparse_encoder.models.SparseStaticEmbedding"};
inline constexpr std::array<std::string_view, 4> kTokenModules{
    "sentence_transformers.models.Transformer", "sentence_transformers.models.Dense",
    "sentence_transformers.models.Normalize", "sentence_transformers.multi_vector_encoder.models.MultiVectorMask"};

}  // namespace latebind::embedding
