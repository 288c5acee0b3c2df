// Merges a LoRA adapter into the weights of a model.
#pragma once

#include "core/result.h"
#include "embedding/weights/adapters/adapter_config.h"
#include "embedding/weights/model_weights.h"
#include "embedding/weights/tensor_file.h"

namespace latebind::embedding {

// Computes the tensors that the adapter changes, each in its type in the model, and replaces them in `weights`. All
// other tensors stay where they are. The numbers are those of PEFT's merge_and_unload(). Uses all processors. Returns
// the errors of read_adapter_parts(), and kInvalidModel or kUnsupported, naming the tensor. Any thread.
//
// Source: Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models" (2021); Kalajdzievski, "A Rank Stabilization
// Scaling Factor for Fine-Tuning with LoRA" (2023); Liu et al., "DoRA: Weight-Decomposed Low-Rank Adaptation" (2024).
[[nodiscard]] core::Status merge_adapter(const TensorFile& adapter, const AdapterConfig& config, ModelWeights& weights);

}  // namespace latebind::embedding
