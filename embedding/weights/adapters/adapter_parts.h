// AdapterParts: the tensors of a LoRA adapter, with the tensors of the model that they change.
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
  std::string tensor{};  // the model's name of W
  std::string down{};    // the adapter's name of A [rank, in]
  std::string up{};      // the adapter's name of B [out, rank]
  std::size_t rank = 0;
  std::size_t in = 0;  // for a table, the number of its rows
  std::size_t out = 0;
  float scale = 1;
  bool is_table = false;  // W is a table [in, out]; otherwise W is [out, in]
  // For DoRA, the name of the lengths [out] of the rows of W after the change; otherwise empty.
  std::string lengths{};
};

// A tensor that replaces one of the model, or that the model does not have.
struct ReplacedTensor {
  std::string tensor{};  // the name in the model
  std::string stored{};  // the name in the adapter
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
