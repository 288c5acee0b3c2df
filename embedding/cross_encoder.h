// CrossEncoder: computes scores for two texts together, such as a query and a document.
//
// A view of an embedder with the output `score`, which it owns. Thread-safe after construction.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "embedding/embedder.h"
#include "embedding/outputs/score.h"

namespace latebind::embedding {

class CrossEncoder {
 public:
  // `network` must be a cross-encoder.
  static std::unique_ptr<CrossEncoder> of(std::unique_ptr<Embedder> network);

  // The names of a pair's scores. Most models that rank have one.
  [[nodiscard]] const std::vector<std::string>& labels() const { return output_.labels(); }

  // Writes pairs.size() rows of labels().size() scores to `out`, in the order of the pairs. `raw` keeps the network's
  // numbers as they are. Pairs that are too long are cut like in the reference, the longer text first. Returns the
  // errors of Encoder::encode(), and kInvalidArgument if options.texts sets `dimensions` or `normalize`.
  [[nodiscard]] core::Result<EmbedStats> score(std::span<const TextPair> pairs, std::span<float> out,
                                               const EmbedOptions& options = {}, bool raw = false) const;

  // The embedder, for its limits, device, tokenizer and queue, and for EmbedTask.
  [[nodiscard]] const Embedder& network() const { return *network_; }

 private:
  explicit CrossEncoder(std::unique_ptr<Embedder> network)
      : network_(std::move(network)), output_(*as<ScoreOutput>(network_->output())) {}

  const std::unique_ptr<Embedder> network_;
  const ScoreOutput& output_;
};

// Returns the positions of at most `most` documents by descending score. Equal scores keep their order.
[[nodiscard]] std::vector<std::size_t> rank_by_score(std::span<const float> scores, std::size_t most);

}  // namespace latebind::embedding
