// FolderContents: the files of one model that a folder has. They are found and their configurations parsed, but not yet
// interpreted.
//
// A value; immutable in use.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/folder/config_files.h"
#include "embedding/folder/find_adapters.h"
#include "embedding/folder/model_files.h"
#include "embedding/folder/modules.h"

namespace latebind::embedding {

struct TokenizerClass;

// Options for reading a folder.
struct FolderOptions {
  // The ONNX file that replaces the weights, by its path below the folder. If empty, the weights are used, else
  // onnx/model.onnx or model.onnx.
  std::string onnx_file{};
  // Finds the base of an adapter on the hub by its name. If empty, the base must be a folder.
  std::function<core::Result<std::filesystem::path>(const std::string& name)> find_base{};
};

struct FolderContents {
  std::filesystem::path transformer{};  // the folder of the first module
  std::filesystem::path network{};      // the folder of config.json and the weights; for an adapter, the base's
  std::filesystem::path tokenizer{};    // the folder of the tokenizer
  // The adapter that is merged into the network, and the adapters of tasks.
  std::optional<AdapterSpec> adapter = std::nullopt;
  std::vector<TaskAdapter> tasks{};
  ConfigFile own{};     // config_sentence_transformers.json, if modules.json exists
  ConfigFile config{};  // the network's config.json
  ConfigFile tokenizer_config{};
  ConfigFile of_transformer{};                            // sentence_bert_config.json, if modules.json exists
  std::optional<core::Json> first_config = std::nullopt;  // config.json beside modules.json
  std::filesystem::path tokenizer_file{};                 // tokenizer.json, or else the vocabulary
  const TokenizerClass* tokenizer_class = nullptr;  // makes a tokenizer from the vocabulary; null for tokenizer.json
  std::vector<std::filesystem::path> tokenizer_companions{};  // other files of the vocabulary
  std::optional<std::filesystem::path> onnx_file = std::nullopt;
  bool is_onnx_requested = false;  // requested by FolderOptions
  bool has_weights = false;        // other than an ONNX file
  // Set if `modules.scoring` is.
  std::optional<KnownScoring> scoring = std::nullopt;
};

// Finds the files of the modules' network. Returns kNotFound with all missing files and the remedy, and kUnsupported
// for files that Latebind does not read, such as GGUF.
[[nodiscard]] core::Result<FolderContents> find_contents(const ModelFiles& files, const Modules& modules,
                                                         const FolderOptions& options);
// The same for a table of term weights (modules.is_term_table), which replaces the network.
[[nodiscard]] core::Result<FolderContents> find_table_contents(const ModelFiles& files, const Modules& modules);

}  // namespace latebind::embedding
