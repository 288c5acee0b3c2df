// Specification: a model as its files describe it: an input, a network and outputs, with limits and prompts. No weights
// are loaded yet.
//
// A model is opened in stages: ModelFiles, Modules, FolderContents, Specification, GraphModel, Encoder. Each stage is
// made from those before it and never changes afterwards. A value; safe for concurrent use.
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

#include "core/json/value.h"
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

// How the inputs of a caller become rows of the network.
struct InputSpec {
  const Input* kind = &kTextInput;
  std::filesystem::path tokenizer_file{};           // tokenizer.json, or else the vocabulary
  const TokenizerClass* tokenizer_class = nullptr;  // makes a tokenizer from the vocabulary; null for tokenizer.json
  std::size_t max_tokens = 0;                       // the longest text, special tokens included
  // The network receives the types of a pair's tokens.
  bool token_types = false;
  Prompts prompts{};
  // What joins two texts, such as a chat template. Null if the tokenizer joins them.
  std::shared_ptr<const PairFrame> frame{};
  // Set if queries and documents are treated differently.
  std::optional<Roles> roles = std::nullopt;
};

// Paths are those that the files have, or would have, below `files.place()`. Open them with `files`.
struct Specification {
  ModelFiles files{};
  InputSpec input{};
  NetworkSpec network{};
  // The outputs; the model's own output comes first.
  OutputList outputs{};
  // The parsed files, the tokenizer's included. Loading needs only these files and the weights or the ONNX file.
  std::vector<std::filesystem::path> small_files{};
  // One line for people: the assumption that replaces a missing declaration. Empty if no assumption was necessary.
  std::string assumed{};

  // The model's name, for messages.
  [[nodiscard]] const std::string& name() const { return files.name(); }
  // The model's own output, and the kind of the model.
  [[nodiscard]] const Output& output() const { return *outputs.front(); }
  [[nodiscard]] const OutputKind& kind() const { return output().kind(); }
  // Returns the named outputs, or the model's own output if `wanted` is empty. Returns no_such_output().
  [[nodiscard]] core::Result<OutputList> find_outputs(std::span<const std::string> wanted) const;
  // Returns whether a pass that gives all of these outputs costs little more than one that gives the own output alone:
  // all take their numbers from the tokens' vectors, perhaps projected, and no compiled blob would be left unused.
  [[nodiscard]] bool shares_one_end(const OutputList& wanted) const;
  // Returns the weights' files, or else the ONNX file.
  [[nodiscard]] std::vector<std::filesystem::path> large_files() const;
  // Returns the longest text that the model accepts: `wanted`, or the folder's limit if `wanted` is 0. Returns
  // kInvalidArgument if the network accepts fewer tokens.
  [[nodiscard]] core::Result<std::size_t> token_limit(std::size_t wanted) const;
  // Reads the tokenizer. Returns the errors of ModelFiles::open_file(), Tokenizer::from_json() and
  // Tokenizer::from_vocabulary_files().
  [[nodiscard]] core::Result<Tokenizer> open_tokenizer() const;
  // Returns the specification as an object.
  [[nodiscard]] core::Json describe() const;
};

// Reads the specification. Returns kNotFound, kInvalidModel or kUnsupported, naming the file and the key, and the
// errors of find_onnx_file().
[[nodiscard]] core::Result<Specification> read_specification(ModelFiles files, const Modules& modules,
                                                             const FolderOptions& options);

}  // namespace latebind::embedding
