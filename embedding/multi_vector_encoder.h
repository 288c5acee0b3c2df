// MultiVectorEncoder: a vector for each token of a text (late interaction, ColBERT), and how well documents answer a
// query by them.
//
// Source: sentence-transformers' MultiVectorEncoder. Thread-safe after construction, as the Embedder that it stands on.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "core/result.h"
#include "embedding/embedder.h"

namespace latebind::embedding {

class MultiVectorEncoder {
 public:
  // Of a network that was opened already, which must be one of these.
  static std::unique_ptr<MultiVectorEncoder> of(std::unique_ptr<Embedder> network);

  // Floats of a vector.
  [[nodiscard]] std::size_t dimension() const { return network_->dimension(); }

  // Appends the texts' vectors to `out`. options.texts.role says what they are; with `normalize` vectors have length 1
  // also of a model that leaves them as they are. The errors of Embedder::embed(); of options.texts no dimensions are
  // to be had.
  [[nodiscard]] core::Result<EmbedStats> encode(std::span<const std::string_view> texts, TokenVectors& out,
                                                const EmbedOptions& options = {}) const;

  // Writes a score for each document to `out`, in their order: what compare() gives of their vectors, which are not
  // kept. `query` is that of encode(), one text's. `options` are those of the documents.
  [[nodiscard]] core::Result<EmbedStats> score(std::span<const float> query,
                                               std::span<const std::string_view> documents, std::span<float> out,
                                               const EmbedOptions& options = {}) const;

  // How well a document answers a query, by the model's function: max_sim() or mean_max_sim().
  [[nodiscard]] float compare(std::span<const float> query, std::span<const float> document) const;

  // Its limits, device, tokenizer and queue; and for EmbedTask.
  [[nodiscard]] const Embedder& network() const { return *network_; }

 private:
  explicit MultiVectorEncoder(std::unique_ptr<Embedder> network) : network_(std::move(network)) {}

  const std::unique_ptr<Embedder> network_;
};

}  // namespace latebind::embedding
