// Specification: what a model is, by its files: an input, a network and outputs, with limits and prompts. Nothing is
// loaded yet.
//
// Opening a model is a line of stages: ModelFiles, Modules, FolderContents, Specification, GraphModel, Encoder. Each is
// made of those before it and never changes afterwards. A value; safe for concurrent use.
//
// Source of the layout: config.json (transformers), modules.json, sentence_bert_config.json, 1_Pooling/config.json
// (sentence-transformers).
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "embedding/folder/folder_contents.h"
#include "embedding/folder/model_files.h"
#include "embedding/folder/modules.h"
#include "embedding/folder/network_spec.h"
#include "embedding/folder/read_roles.h"
#include "embedding/inputs/input.h"
#include "embedding/inputs/prompts.h"
#include "embedding/outputs/output.h"

namespace latebind::embedding {

class Tokenizer;

// How what a caller gives becomes rows of the network.
struct InputSpec {
  const Input* kind = &kTextInput;
  std::filesystem::path tokenizer_file{};           // tokenizer.json, or else the vocabulary
  const TokenizerClass* tokenizer_class = nullptr;  // makes a tokenizer of the vocabulary; null for tokenizer.json
  std::size_t max_tokens = 0;                       // the longest text, special tokens included
  // The network is told the types of a pair's tokens.
  bool token_types = false;
  Prompts prompts{};
  // Set where queries and documents are treated differently.
  std::optional<Roles> roles = std::nullopt;
};

// Paths are those that the files have or would have below `files.place()`: open them with `files`.
struct Specification {
  ModelFiles files{};
  InputSpec input{};
  NetworkSpec network{};
  // The model's own output comes first.
  OutputList outputs{};
  // The files that were read, the tokenizer's included: all that is needed besides the weights or the ONNX file.
  std::vector<std::filesystem::path> small_files{};
  // One line for people: what is assumed where no file says it. Empty: nothing.
  std::string assumed{};

  // The model's name, for messages.
  [[nodiscard]] const std::string& name() const { return files.name(); }
  // The model's own output, and what a model with it is called.
  [[nodiscard]] const Output& output() const { return *outputs.front(); }
  [[nodiscard]] EncoderKind kind() const { return output().kind().encoder; }
  // The outputs of these names; without any, the model's own. kUnsupported, naming those that the model has.
  [[nodiscard]] core::Result<OutputList> find_outputs(std::span<const std::string> wanted) const;
  // The weights' files, or else the ONNX file.
  [[nodiscard]] std::vector<std::filesystem::path> large_files() const;
  // The longest text that the model takes: `wanted`, or with 0 what the folder says. kInvalidArgument where the network
  // takes fewer tokens.
  [[nodiscard]] core::Result<std::size_t> token_limit(std::size_t wanted) const;
  // Reads the tokenizer. The errors of ModelFiles::open_file(), Tokenizer::from_json() and
  // Tokenizer::from_vocabulary_files().
  [[nodiscard]] core::Result<Tokenizer> open_tokenizer() const;
  // All of it as an object.
  [[nodiscard]] nlohmann::json describe() const;
};

// kNotFound, kInvalidModel or kUnsupported, naming the file and the key; the errors of find_onnx_file().
[[nodiscard]] core::Result<Specification> read_specification(ModelFiles files, const Modules& modules,
                                                             const FolderOptions& options);

}  // namespace latebind::embedding
