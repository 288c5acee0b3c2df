// The compressed tables of model2vec: tokens share vectors (`mapping`) or have weights (`weights`). written_out()
// expands them in memory to an ordinary table with one vector for each token.
//
// Source: sentence-transformers' StaticEmbedding, which does the same when it loads such a file. All functions are
// pure, and any thread may call them.
#pragma once

#include "core/result.h"
#include "embedding/weights/tensor_file.h"

namespace latebind::embedding {

inline constexpr const char* kStaticTable = "embedding.weight";

// Returns whether the file has one of the tensors `mapping` and `weights`. Returns kUnsupported if it has a table
// `embedding.weight` as well: sentence-transformers ignores the tensors then, and model2vec does not.
[[nodiscard]] core::Result<bool> is_compressed_table(const TensorFile& weights);

// The number of tokens in such a file, and the length of each vector. size_of_compressed_table() returns kInvalidModel
// if the tensors do not fit each other or exceed the limits of all tables, and kUnsupported for more than 1 GiB.
struct TableSize {
  std::size_t tokens = 0;
  std::size_t width = 0;
};
[[nodiscard]] core::Result<TableSize> size_of_compressed_table(const TensorFile& weights);

// Returns the same vectors as a tensor kStaticTable. Row `token` is embeddings[mapping[token]] · weights[token], in f32
// if the file has weights, else in the file's type. Returns kInvalidModel if the mapping names a row that does not
// exist, and kUnsupported for unknown types and for more than 1 GiB.
[[nodiscard]] core::Result<TensorFile> written_out(const TensorFile& weights);

}  // namespace latebind::embedding
