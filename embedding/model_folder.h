// ModelFolder: the configuration of a sentence-transformers model, from a folder or a bundle, read and checked, with
// nothing loaded yet.
//
// Source of the layout: config.json (transformers), modules.json, sentence_bert_config.json, 1_Pooling/config.json
// (sentence-transformers). A value type; immutable in use.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/graph/operators.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"
#include "embedding/cross_encoder_config.h"
#include "embedding/model_files.h"
#include "embedding/modules.h"
#include "embedding/multi_vector_config.h"
#include "embedding/prompts.h"
#include "embedding/sparse_vector.h"
#include "embedding/term_table.h"

namespace latebind::embedding {

class Tokenizer;
struct TokenizerClass;

using graph::PoolingMode;

// How a folder is read.
struct FolderOptions {
  // The ONNX file that is used instead of the weights, by its path below the folder; empty: weights, or else
  // onnx/model.onnx or model.onnx.
  std::string onnx_file{};
};

// Paths are those that the files have or would have below `files.place()`: open them with `files`.
struct ModelFolder {
  ModelFiles files;
  std::filesystem::path tokenizer_file;  // tokenizer.json, or else the vocabulary
  // Where there is no tokenizer.json: what makes one of the vocabulary.
  const TokenizerClass* tokenizer_class = nullptr;
  std::vector<WeightsFile> weights;                // where `network` can be made from them, its own first
  std::optional<std::filesystem::path> onnx_file;  // the one that was asked for, onnx/model.onnx or model.onnx
  // What was read, the tokenizer's file included: all that is needed besides the weights or the ONNX file.
  std::vector<std::filesystem::path> small_files;
  std::shared_ptr<const Network> network;  // when config.json describes one of a known architecture; else null
  std::size_t hidden_size = 0;             // of a token's vector; 0 when no file gives it
  PoolingMode pooling = PoolingMode::kMean;
  std::vector<VectorModule> behind_pooling{};
  bool normalize = false;
  bool is_listed = false;  // by modules.json
  // One line for people: how texts are pooled, where no file says it. Empty: nothing is assumed.
  std::string assumed{};
  EncoderKind kind = EncoderKind::kEmbedder;
  // Of a cross-encoder: what its numbers mean, and the network's own way to them, where modules have none.
  CrossEncoderConfig scores{};
  std::optional<ClassifierHead> classifier = std::nullopt;
  // Of a sparse encoder: what its numbers become, and the network's way to them, where it is known.
  SparseRule sparse{};
  std::optional<VocabularyHead> vocabulary = std::nullopt;
  // Of a multi-vector encoder: what is done with queries and documents; their lengths are known and within the
  // network's.
  MultiVectorConfig multi_vector{};
  // The types of a pair's tokens are told to the network, if it has several.
  bool token_types = false;
  // What is or may be put before a text; and the lengths of vector that the model was trained for besides the whole
  // one, for who asks for them.
  Prompts prompts{};
  std::vector<std::size_t> matryoshka_dimensions{};
  // Of a sparse encoder without a network, instead of `network`, weights and ONNX file; and its file.
  std::shared_ptr<const TermTable> term_table = nullptr;
  std::optional<std::filesystem::path> term_table_file = std::nullopt;
  // A table of vectors or weights instead of a network: its texts have no special tokens.
  bool is_static = false;
  std::size_t max_tokens = 0;  // the minimum of what sentence_bert_config.json and the position table allow
  // Of a router: its way for queries; all of the above is its way for documents. And which of them texts take of which
  // nothing is said; kUnsaid: neither.
  std::shared_ptr<const ModelFolder> queries = nullptr;
  TextRole by_default = TextRole::kUnsaid;

  // kNotFound, kInvalidModel or kUnsupported, naming the file and the key; the errors of find_onnx_file().
  // `given`: a folder, or a bundle.
  static core::Result<ModelFolder> open(const std::filesystem::path& given, const FolderOptions& options = {});
  // From files that were found already.
  static core::Result<ModelFolder> of(ModelFiles given, const FolderOptions& options = {});

  // The way of texts with this role. kInvalidArgument where it has to be said and is not.
  [[nodiscard]] core::Result<const ModelFolder*> way_of(TextRole role) const;
  // Token vectors are pooled here instead of by the network, which pools all of them.
  [[nodiscard]] bool pools_here() const { return prompts.left_out && prompts.excluded_by.empty(); }
  // The weights' files, or else the ONNX file: those that are large.
  [[nodiscard]] std::vector<std::filesystem::path> large_files() const;
  // The longest text that the model takes, special tokens included: `wanted`, or with 0 what the folder says.
  // kInvalidArgument for more than its position table has.
  [[nodiscard]] core::Result<std::size_t> token_limit(std::size_t wanted) const;
  // Stanford's ColBERT, whose projection is among the network's weights.
  [[nodiscard]] bool is_stanford() const { return kind == EncoderKind::kMultiVectorEncoder && !is_listed; }
  // Numbers of what comes out behind pooling, or of each token's vector: 0 where no file says it.
  [[nodiscard]] std::size_t dimension() const;
  // Reads tokenizer.json, or what there is instead. The errors of ModelFiles::open_file(), Tokenizer::from_json() and
  // Tokenizer::from_vocabulary_files().
  [[nodiscard]] core::Result<Tokenizer> open_tokenizer() const;
  // Of the model, for messages.
  [[nodiscard]] const std::string& name() const { return files.name(); }
};

}  // namespace latebind::embedding
