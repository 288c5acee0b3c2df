// MultiVectorEncoder: a vector for each token of a text (late interaction, ColBERT), and how well documents answer a
// query by them.
//
// A view of an encoder with the output `multi_vector`. Thread-safe after construction.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "core/result.h"
#include "embedding/embedder.h"
#include "embedding/outputs/multi_vector.h"

namespace latebind::embedding {

class MultiVectorEncoder {
 public:
  // `network` must be of this kind.
  static std::unique_ptr<MultiVectorEncoder> of(std::unique_ptr<Embedder> network);

  // Floats of a vector.
  [[nodiscard]] std::size_t dimension() const { return network_->dimension(); }

  // Appends the texts' vectors to `out`. options.texts.role says what they are; with `normalize` vectors have length 1
  // even if the model leaves them as they are. The errors of Encoder::encode(); kInvalidArgument for dimensions.
  [[nodiscard]] core::Result<EmbedStats> encode(std::span<const std::string_view> texts, TokenVectors& out,
                                                const EmbedOptions& options = {}) const;

  // Writes a score for each document to `out`, in their order: compare() of their vectors, which are not kept. `query`
  // has the vectors of one text, from encode(). `options` apply to the documents.
  [[nodiscard]] core::Result<EmbedStats> score(std::span<const float> query,
                                               std::span<const std::string_view> documents, std::span<float> out,
                                               const EmbedOptions& options = {}) const;

  // How well a document answers a query, by the model's function: max_sim() or mean_max_sim().
  [[nodiscard]] float compare(std::span<const float> query, std::span<const float> document) const {
    return output_.compare(query, document, dimension());
  }

  // Its limits, device, tokenizer and queue; and for EmbedTask.
  [[nodiscard]] const Embedder& network() const { return *network_; }

 private:
  explicit MultiVectorEncoder(std::unique_ptr<Embedder> network)
      : network_(std::move(network)), output_(*as<MultiVectorOutput>(network_->output())) {}

  const std::unique_ptr<Embedder> network_;
  const MultiVectorOutput& output_;
};

}  // namespace latebind::embedding
