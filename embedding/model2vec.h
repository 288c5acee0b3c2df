// The compressed tables of model2vec: tokens share vectors (`mapping`), or weigh more than others (`weights`). They are
// written out as one vector for each token, in memory, which then is a table like any other.
//
// Source: sentence-transformers' StaticEmbedding, which does the same when it loads such a file. Pure functions, any
// thread.
#pragma once

#include "core/result.h"
#include "embedding/safetensors.h"

namespace latebind::embedding {

inline constexpr const char* kStaticTable = "embedding.weight";

// Whether the file has a table of model2vec and one of these tensors. With a table `embedding.weight` they are refused
// (kUnsupported): sentence-transformers would not look at them, and model2vec would.
[[nodiscard]] core::Result<bool> is_compressed_table(const Safetensors& weights);

// Of such a file: how many tokens have a vector, and how many numbers that has. kInvalidModel where the tensors do not
// fit each other, kUnsupported beyond the limits of all tables.
struct TableSize {
  std::size_t tokens = 0;
  std::size_t width = 0;
};
[[nodiscard]] core::Result<TableSize> size_of_compressed_table(const Safetensors& weights);

// The same vectors as a tensor kStaticTable: row `token` is embeddings[mapping[token]] · weights[token], in f32 where
// there are weights, else as the file has them. kInvalidModel for a mapping to what is no row, kUnsupported for types
// that are not known and for more than 1 GiB.
[[nodiscard]] core::Result<Safetensors> written_out(const Safetensors& weights);

}  // namespace latebind::embedding
