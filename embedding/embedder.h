// Embedder: turns texts into vectors, with an unmodified sentence-transformers model folder from the hub.
//
// A view of one encoder, or of the two encoders of a router. Each text goes to the encoder for its role; the properties
// of the embedder are those of the encoder for documents. Thread-safe after construction. The engine's registry must
// outlive it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/engine.h"
#include "core/graph/operators.h"
#include "core/result.h"
#include "embedding/encoder.h"
#include "embedding/outputs/output.h"
#include "embedding/router.h"

namespace latebind::embedding {

class ModelFolder;

struct EmbedderOptions : EncoderOptions {
  // The ONNX file in the model's folder that replaces the weights; see FolderOptions.
  std::string onnx_file{};
  // The only route of a router that is loaded; kUnspecified loads both.
  TextRole role = TextRole::kUnspecified;
};

class Embedder {
 public:
  // Reads the folder and opens its encoders. Returns the errors of ModelFolder::open() and Encoder::open(), which
  // include no_such_output(); kInvalidArgument if options.load.compile has input_shapes; kInvalidModel if the
  // dimensions of a router's two routes differ.
  static core::Result<std::unique_ptr<Embedder>> open(const core::Engine& engine,
                                                      const std::filesystem::path& model_folder,
                                                      const core::Placement& placement, const EmbedderOptions& options);
  // The same for a folder that was read already. options.onnx_file has no effect.
  static core::Result<std::unique_ptr<Embedder>> open(const core::Engine& engine, const ModelFolder& folder,
                                                      const core::Placement& placement, const EmbedderOptions& options);

  // The model's name, for messages.
  [[nodiscard]] const std::string& name() const { return documents().name(); }
  [[nodiscard]] bool has_routes() const { return encoders_.has_routes(); }
  // Returns the encoder of texts with this role. Returns kInvalidArgument if the role is required but missing.
  [[nodiscard]] core::Result<const Encoder*> route_for(TextRole role) const;
  [[nodiscard]] const Router<Encoder>& encoders() const { return encoders_; }
  // The only encoder, or the one for documents. The following functions describe it.
  [[nodiscard]] const Encoder& documents() const { return encoders_.documents(); }
  // The numbers in a row of the results, and the most that a call can ask for.
  [[nodiscard]] std::size_t dimension() const { return documents().dimension(); }
  [[nodiscard]] std::size_t computed_dimension() const { return documents().outputs().front().computed(); }
  [[nodiscard]] std::size_t max_tokens(TextRole role = TextRole::kDocument) const {
    return documents().max_tokens(role);
  }
  [[nodiscard]] std::size_t batch_tokens() const { return documents().batch_tokens(); }
  [[nodiscard]] std::shared_ptr<const core::Attestation> attestation() const { return documents().attestation(); }
  [[nodiscard]] const Prompts& prompts() const { return documents().prompts(); }
  [[nodiscard]] const TextLimits& limits() const { return documents().limits(); }
  [[nodiscard]] std::shared_ptr<const Tokenizer> tokenizer() const { return documents().tokenizer(); }
  // The outputs that the model has, whether or not it was opened for them. The model's own output comes first.
  [[nodiscard]] const OutputList& model_outputs() const { return model_outputs_; }
  // Returns whether the model was opened for the named output.
  [[nodiscard]] bool gives(std::string_view output) const;
  // The first output for which the model was opened, and its properties.
  [[nodiscard]] const Output& output() const;
  [[nodiscard]] bool gives_token_vectors() const;
  [[nodiscard]] graph::PoolingMode pooling() const;
  [[nodiscard]] bool normalizes() const;
  [[nodiscard]] std::span<const std::size_t> matryoshka_dimensions() const;
  // The sums over all encoders.
  [[nodiscard]] std::size_t hung_runs() const;
  [[nodiscard]] QueueState queue_state() const;
  // Compiles in advance what is otherwise compiled when a text first needs it, such as every static length.
  [[nodiscard]] core::Status prepare() const;

  // Writes texts.size() rows of dimension() (or options.texts.dimensions) floats to `out`, in the order of the texts.
  // Returns the errors of Encoder::encode(), kInvalidArgument if the role is required but missing, and kUnsupported for
  // a model with another form of results.
  [[nodiscard]] core::Result<EmbedStats> embed(std::span<const std::string_view> texts, std::span<float> out,
                                               const EmbedOptions& options = {}) const;
  // The same for texts whose token ids are known, special tokens included. No prompt is added.
  using Ids = embedding::Ids;
  [[nodiscard]] core::Result<EmbedStats> embed_ids(std::span<const Ids> texts, std::span<float> out,
                                                   const EmbedOptions& options = {}) const;
  // The same with one number for each label of a pair. CrossEncoder turns these numbers into scores.
  [[nodiscard]] core::Result<EmbedStats> embed_pairs(std::span<const TextPair> pairs, std::span<float> out,
                                                     const EmbedOptions& options = {}) const;
  // The same with a sparse vector for each text. out.size() must be at least the number of texts.
  [[nodiscard]] core::Result<EmbedStats> embed_sparse(std::span<const std::string_view> texts,
                                                      std::span<SparseVector> out,
                                                      const EmbedOptions& options = {}) const;
  // The same with token vectors. Appends to `out` and sets its dimension. Returns kInvalidArgument if
  // options.texts.dimensions differs from dimension(); options.texts.normalize has no effect.
  [[nodiscard]] core::Result<EmbedStats> embed_tokens(std::span<const std::string_view> texts, RaggedRows& out,
                                                      const EmbedOptions& options = {}) const;
  // The same to `sink`, so that only the vectors of a few texts are in memory.
  using TokenSink = embedding::TokenSink;
  [[nodiscard]] core::Result<EmbedStats> embed_tokens(std::span<const std::string_view> texts, const TokenSink& sink,
                                                      const EmbedOptions& options = {}) const;

 private:
  Embedder(Router<Encoder> encoders, OutputList model_outputs, TextRole only)
      : encoders_(std::move(encoders)), model_outputs_(std::move(model_outputs)), only_(only) {}
  core::Result<EmbedStats> encode(const InputList& inputs, const OutputSink& sink, const EmbedOptions& options) const;

  const Router<Encoder> encoders_;
  const OutputList model_outputs_;
  const TextRole only_;  // the only open route of a router; kUnspecified if all are open
};

using TokenVectors = RaggedRows;

}  // namespace latebind::embedding
