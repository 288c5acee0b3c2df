// Finds LoRA adapters in a model folder: the one that is merged into the network, and the adapters of tasks, one of
// which each call chooses.
//
// Source of the layouts: PEFT; jina-embeddings-v5 for a folder `adapters` with one folder for each task, and
// transformers for such folders beside config.json. Pure functions of the files; any thread may call them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/folder/model_files.h"
#include "embedding/weights/adapters/adapter_config.h"

namespace latebind::embedding {

struct FolderOptions;

struct AdapterSpec {
  AdapterConfig config{};
  std::filesystem::path config_file{};
  std::filesystem::path weights{};
};

struct TaskAdapter {
  std::string task{};
  AdapterSpec adapter{};
};

// Reads the adapter in `folder`; std::nullopt if there is no adapter_config.json. Returns kNotFound if its weights are
// missing, and the errors of read_adapter_config().
[[nodiscard]] core::Result<std::optional<AdapterSpec>> find_adapter(const ModelFiles& files,
                                                                    const std::filesystem::path& folder);
// Returns the folder of the model that the adapter changes. Returns kNotFound or kUnsupported, naming the key.
[[nodiscard]] core::Result<std::filesystem::path> find_base(const ModelFiles& files, const AdapterSpec& adapter,
                                                            const FolderOptions& options);

// Reads the adapters of tasks in the folders below `folder`: those in `task_names` of `config`, in that order, or,
// without that key, all of them sorted by name. If there are none at all, and the network does not need them, the key
// has no effect: files with a merged adapter keep it. Returns kUnsupported if one is missing, and the errors of
// find_adapter().
[[nodiscard]] core::Result<std::vector<TaskAdapter>> find_task_adapters(const ModelFiles& files,
                                                                        const std::filesystem::path& folder,
                                                                        const core::Json& config);

}  // namespace latebind::embedding
