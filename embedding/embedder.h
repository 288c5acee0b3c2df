// Embedder: text to vectors, with an unmodified sentence-transformers model folder from the hub.
//
// A view of one encoder, or of a router's two: texts take the encoder of their role, and what the embedder says about
// itself is that of documents. Thread-safe after construction. The engine's registry must outlive it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine.h"
#include "core/graph/operators.h"
#include "core/result.h"
#include "embedding/encoder.h"
#include "embedding/encoder_kind.h"
#include "embedding/router.h"

namespace latebind::embedding {

class ModelFolder;
class Output;

struct EmbedderOptions : EncoderOptions {
  // The ONNX file of the model's folder that is used instead of its weights: FolderOptions.
  std::string onnx_file{};
  // What the model must be; nothing: any kind, for callers that ask kind() afterwards.
  std::optional<EncoderKind> kind = EncoderKind::kEmbedder;
  // The only route of a router that is loaded; kUnspecified: both.
  TextRole role = TextRole::kUnspecified;
};

class Embedder {
 public:
  // Reads the folder and opens its encoders.
  static core::Result<std::unique_ptr<Embedder>> open(const core::Engine& engine,
                                                      const std::filesystem::path& model_folder,
                                                      const core::Placement& placement, const EmbedderOptions& options);

  // The model's name, for messages.
  [[nodiscard]] const std::string& name() const { return documents().name(); }
  [[nodiscard]] EncoderKind kind() const { return kind_; }
  [[nodiscard]] bool has_routes() const { return encoders_.has_routes(); }
  // The encoder of texts with this role. kInvalidArgument where the role must be given.
  [[nodiscard]] core::Result<const Encoder*> route_for(TextRole role) const;
  [[nodiscard]] const Router<Encoder>& encoders() const { return encoders_; }
  // The only encoder, or that of documents, which the following are about.
  [[nodiscard]] const Encoder& documents() const { return encoders_.documents(); }
  [[nodiscard]] std::size_t dimension() const { return documents().dimension(); }
  [[nodiscard]] std::size_t max_tokens(TextRole role = TextRole::kDocument) const {
    return documents().max_tokens(role);
  }
  [[nodiscard]] std::size_t batch_tokens() const { return documents().batch_tokens(); }
  [[nodiscard]] std::shared_ptr<const core::Attestation> attestation() const { return documents().attestation(); }
  [[nodiscard]] const Prompts& prompts() const { return documents().prompts(); }
  [[nodiscard]] const TextLimits& limits() const { return documents().limits(); }
  [[nodiscard]] std::shared_ptr<const Tokenizer> tokenizer() const { return documents().tokenizer(); }
  // Its first output, and what that says about itself.
  [[nodiscard]] const Output& output() const;
  [[nodiscard]] bool gives_token_vectors() const;
  [[nodiscard]] graph::PoolingMode pooling() const;
  [[nodiscard]] bool normalizes() const;
  [[nodiscard]] std::span<const std::size_t> matryoshka_dimensions() const;
  // Of all encoders together.
  [[nodiscard]] std::size_t hung_runs() const;
  [[nodiscard]] QueueState queue_state() const;
  // Compiles now what is otherwise compiled when a text first needs it, such as every static length.
  [[nodiscard]] core::Status prepare() const;

  // Writes texts.size() rows of dimension() (or options.texts.dimensions) floats to `out`, in the order of the texts.
  // The errors of Encoder::encode(), and kInvalidArgument for a role that must be given. kUnsupported for a model that
  // gives other results.
  [[nodiscard]] core::Result<EmbedStats> embed(std::span<const std::string_view> texts, std::span<float> out,
                                               const EmbedOptions& options = {}) const;
  // The same for texts whose token ids are known, special tokens included: no prompt is put before them.
  using Ids = embedding::Ids;
  [[nodiscard]] core::Result<EmbedStats> embed_ids(std::span<const Ids> texts, std::span<float> out,
                                                   const EmbedOptions& options = {}) const;
  // The same with a number for each label of a pair, for CrossEncoder, which makes scores of them.
  [[nodiscard]] core::Result<EmbedStats> embed_pairs(std::span<const TextPair> pairs, std::span<float> out,
                                                     const EmbedOptions& options = {}) const;
  // The same with a sparse vector for each text: out.size() is at least the number of texts.
  [[nodiscard]] core::Result<EmbedStats> embed_sparse(std::span<const std::string_view> texts,
                                                      std::span<SparseVector> out,
                                                      const EmbedOptions& options = {}) const;
  // The same with vectors of tokens: appends to `out`, whose dimension is set. options.texts has neither dimensions nor
  // `normalize`.
  [[nodiscard]] core::Result<EmbedStats> embed_tokens(std::span<const std::string_view> texts, RaggedRows& out,
                                                      const EmbedOptions& options = {}) const;
  // The same to `sink`, so that no more than some texts' vectors are in memory.
  using TokenSink = embedding::TokenSink;
  [[nodiscard]] core::Result<EmbedStats> embed_tokens(std::span<const std::string_view> texts, const TokenSink& sink,
                                                      const EmbedOptions& options = {}) const;

 private:
  Embedder(Router<Encoder> encoders, EncoderKind kind, TextRole only)
      : encoders_(std::move(encoders)), kind_(kind), only_(only) {}
  core::Result<EmbedStats> encode(const InputList& inputs, const OutputSink& sink, const EmbedOptions& options) const;

  const Router<Encoder> encoders_;
  const EncoderKind kind_;
  const TextRole only_;  // of a router, the only route that is open
};

using TokenVectors = RaggedRows;

}  // namespace latebind::embedding
