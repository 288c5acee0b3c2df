// FolderContents: what a folder has of one model's files. They are found and their configurations read, but nothing in
// them has been interpreted yet.
//
// A value; immutable in use.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "embedding/folder/config_files.h"
#include "embedding/folder/model_files.h"
#include "embedding/folder/modules.h"

namespace latebind::embedding {

struct TokenizerClass;

// How a folder is read.
struct FolderOptions {
  // The ONNX file that replaces the weights, by its path below the folder. Empty: the weights, or else onnx/model.onnx
  // or model.onnx.
  std::string onnx_file{};
};

struct FolderContents {
  std::filesystem::path transformer{};  // the folder of config.json, the tokenizer and the weights
  ConfigFile own{};                     // config_sentence_transformers.json, where there is a modules.json
  ConfigFile config{};                  // the network's config.json
  ConfigFile tokenizer_config{};
  ConfigFile of_transformer{};  // sentence_bert_config.json, where there is a modules.json
  std::optional<nlohmann::json> first_config = std::nullopt;  // config.json beside modules.json
  std::filesystem::path tokenizer_file{};                     // tokenizer.json, or else the vocabulary
  const TokenizerClass* tokenizer_class = nullptr;  // makes a tokenizer of the vocabulary; null for tokenizer.json
  std::vector<std::filesystem::path> tokenizer_companions{};  // other files of the vocabulary
  std::optional<std::filesystem::path> onnx_file = std::nullopt;
  bool is_onnx_requested = false;  // by FolderOptions
  bool has_weights = false;        // in safetensors
};

// Finds the files of the modules' network. kNotFound with all that is missing and what to do about it; kUnsupported for
// files that cannot be read, such as adapters, GGUF and PyTorch's weights.
[[nodiscard]] core::Result<FolderContents> find_contents(const ModelFiles& files, const Modules& modules,
                                                         const FolderOptions& options);
// The same for a table of term weights (modules.is_term_table), which has no network.
[[nodiscard]] core::Result<FolderContents> find_table_contents(const ModelFiles& files, const Modules& modules);

}  // namespace latebind::embedding
