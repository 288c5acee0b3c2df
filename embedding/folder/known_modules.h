// The modules of sentence-transformers that Latebind supports, for messages about other modules. Constants.
#pragma once

#include <array>
#include <string_view>

namespace latebind::embedding {

// The modules of models with one vector, one sparse vector or one score for each text, and of late-interaction models.
inline constexpr std::array<std::string_view, 13> kModules{
    "sentence_transformers.models.Transformer",
    "sentence_transformers.models.Pooling",
    "sentence_transformers.models.StaticEmbedding",
    "sentence_transformers.models.WordEmbeddings",
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
