// Low-rank changes of a network's matrices for several tasks. They stay separate from the matrices, so that one set of
// weights serves all tasks, and each call chooses its task.
//
// For each matrix, the changes of all tasks are stacked to one pair of matrices, A [columns, in] and B [out, columns].
// A table of scales [tasks + 1, columns] has each task's scale in its own columns and 0 in the others. With the number
// t of a text's task, 0 for none and then from 1, y = x · Wᵀ + (x · Aᵀ · scales[t]) · Bᵀ. Texts of different tasks may
// share a batch.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "embedding/weights/adapters/adapter_config.h"
#include "embedding/weights/model_weights.h"
#include "embedding/weights/tensor_file.h"

namespace latebind::embedding {

// The adapter of one task, in a separate file.
struct TaskAdapterFile {
  const AdapterConfig* config = nullptr;
  TensorFile tensors;
};
// Adds the adapters of tasks 1, 2, … to `weights`. Returns the errors of read_adapter_parts(), and kUnsupported for
// adapters that replace tensors or have DoRA.
[[nodiscard]] core::Status add_task_adapters(std::span<const TaskAdapterFile> adapters, ModelWeights& weights);

// Adds tasks whose low-rank parts lie in the files of the model itself, stacked by task, below
// "MODULE.parametrizations.weight.0.": lora_A [tasks, rank, in] and lora_B [tasks, out, rank]; of tables of embeddings
// lora_A [tasks, rows, rank] and lora_B [tasks, rank, out]. Returns kInvalidModel, naming the tensor.
struct StackedTasks {
  std::size_t tasks = 0;
  std::size_t rank = 0;
  float scale = 1;
};
[[nodiscard]] core::Status add_stacked_tasks(const StackedTasks& stacked, ModelWeights& weights);
// Returns kInvalidModel if the weights have such parts, for models without tasks.
[[nodiscard]] core::Status refuse_stacked_tasks(const ModelWeights& weights);

}  // namespace latebind::embedding
