// AdapterParts: the tensors of a LoRA adapter by what they change.
//
// Source of the names: PEFT's files, "base_model.model.MODULE.lora_A.weight". Values; reading is a pure function, safe
// for concurrent use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "embedding/weights/adapters/adapter_config.h"
#include "embedding/weights/model_weights.h"
#include "embedding/weights/tensor_file.h"

namespace latebind::embedding {

// The change of a matrix W: scale · B · A is added to it, or to its transpose if it is a table of embeddings.
struct LowRankChange {
  std::string tensor{};  // W, as the model calls it
  std::string down{};    // A [rank, in], as the adapter calls it
  std::string up{};      // B [out, rank]
  std::size_t rank = 0;
  std::size_t in = 0;  // of a table: its rows
  std::size_t out = 0;
  float scale = 1;
  bool is_table = false;  // W is a table [in, out]; otherwise W is [out, in]
  // DoRA: the lengths [out] of the rows of W after the change. Empty without.
  std::string lengths{};
};

// A tensor that replaces one of the model, or that the model does not have.
struct ReplacedTensor {
  std::string tensor{};  // as the model calls it, or should
  std::string stored{};  // as the adapter calls it
};

struct AdapterParts {
  std::vector<LowRankChange> changes{};
  std::vector<ReplacedTensor> replaced{};
};

// Finds what the adapter changes in the model `weights`. Returns kInvalidModel or kUnsupported, naming the file and the
// tensor.
[[nodiscard]] core::Result<AdapterParts> read_adapter_parts(const TensorFile& adapter, const AdapterConfig& config,
                                                            const ModelWeights& weights);

}  // namespace latebind::embedding
