// Static embeddings: a vector for each token, and the mean of them for a text, without a network in between, such as
// model2vec, and sentence-transformers' StaticEmbedding and WordEmbeddings.
//
// Source: these classes of sentence-transformers, with the tensor names of all three. Pure functions; any thread may
// call them.
#pragma once

#include <memory>

#include "core/result.h"
#include "embedding/architectures/architecture.h"
#include "embedding/weights/tensor_file.h"

namespace latebind::embedding {

// Reads the network from its file of weights, which need not outlive the call. For a compressed table (model2vec.h),
// the network is that of the expanded table. Returns kInvalidModel if the file has no table of vectors.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_static_embedding(const TensorFile& weights);
// The same for a table of WordEmbeddings.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_word_table(const TensorFile& weights);

}  // namespace latebind::embedding
