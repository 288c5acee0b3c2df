// MultiVectorEncoder: computes a vector for each token of a text (late interaction, ColBERT), and scores documents for
// a query by these vectors.
//
// A view of an embedder with the output `multi_vector`, which it owns. Thread-safe after construction.
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
  // `network` must be a multi-vector encoder.
  static std::unique_ptr<MultiVectorEncoder> of(std::unique_ptr<Embedder> network);

  // The number of floats of a vector.
  [[nodiscard]] std::size_t dimension() const { return network_->dimension(); }

  // Appends the texts' vectors to `out`. options.texts.role says whether they are queries or documents; `normalize`
  // gives vectors of length 1 even if the model does not normalise. Returns the errors of Encoder::encode(), and
  // kInvalidArgument if options.texts.dimensions differs from dimension().
  [[nodiscard]] core::Result<EmbedStats> encode(std::span<const std::string_view> texts, TokenVectors& out,
                                                const EmbedOptions& options = {}) const;

  // Writes compare() of the query and each document to `out`, in the order of the documents. The documents' vectors are
  // not kept. `query` has the vectors of one text, from encode(). `options` apply to the documents. Returns the errors
  // of Encoder::encode(), and kBufferTooSmall if `out` is too small.
  [[nodiscard]] core::Result<EmbedStats> score(std::span<const float> query,
                                               std::span<const std::string_view> documents, std::span<float> out,
                                               const EmbedOptions& options = {}) const;

  // Returns the score of a document for a query, by the model's function: max_sim() or mean_max_sim().
  [[nodiscard]] float compare(std::span<const float> query, std::span<const float> document) const {
    return output_.compare(query, document, dimension());
  }

  // The embedder, for its limits, device, tokenizer and queue, and for EmbedTask.
  [[nodiscard]] const Embedder& network() const { return *network_; }

 private:
  explicit MultiVectorEncoder(std::unique_ptr<Embedder> network)
      : network_(std::move(network)), output_(*as<MultiVectorOutput>(network_->output())) {}

  const std::unique_ptr<Embedder> network_;
  const MultiVectorOutput& output_;
};

}  // namespace latebind::embedding
