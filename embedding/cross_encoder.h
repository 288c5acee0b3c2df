// CrossEncoder: scores for two texts together, such as a query and a document.
//
// A view of an encoder with the output `score`. Thread-safe after construction.
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
  // `network` must be of this kind.
  static std::unique_ptr<CrossEncoder> of(std::unique_ptr<Embedder> network);

  // The names of a pair's scores: one, for most models that rank.
  [[nodiscard]] const std::vector<std::string>& labels() const { return output_.labels(); }

  // Writes pairs.size() rows of labels().size() scores to `out`, in the order of the pairs; `raw`: the network's
  // numbers as they are. The errors of Encoder::encode(). Texts that are too long together are cut as the reference
  // does it, the longer one first. kInvalidArgument for dimensions or a length of 1 in options.texts.
  [[nodiscard]] core::Result<EmbedStats> score(std::span<const TextPair> pairs, std::span<float> out,
                                               const EmbedOptions& options = {}, bool raw = false) const;

  // Its limits, device, tokenizer and queue; and for EmbedTask.
  [[nodiscard]] const Embedder& network() const { return *network_; }

 private:
  explicit CrossEncoder(std::unique_ptr<Embedder> network)
      : network_(std::move(network)), output_(*as<ScoreOutput>(network_->output())) {}

  const std::unique_ptr<Embedder> network_;
  const ScoreOutput& output_;
};

// The positions of documents by their scores, highest first; of equal scores the earlier one. At most `most` of them.
[[nodiscard]] std::vector<std::size_t> rank_by_score(std::span<const float> scores, std::size_t most);

}  // namespace latebind::embedding
