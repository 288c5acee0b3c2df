// CrossEncoder: scores for two texts together, such as a query and a document.
//
// Source: sentence-transformers' CrossEncoder, whose predict() gives these scores. Thread-safe after construction, as
// the Embedder that it stands on.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "embedding/cross_encoder_config.h"
#include "embedding/embedder.h"
#include "embedding/token_table.h"

namespace latebind::embedding {

class CrossEncoder {
 public:
  // Of a network that was opened already, which must be one of these.
  static std::unique_ptr<CrossEncoder> of(std::unique_ptr<Embedder> network);

  // Names of the numbers that a pair has: one, of most models that rank.
  [[nodiscard]] const std::vector<std::string>& labels() const { return config_.labels; }

  // Writes pairs.size() rows of labels().size() scores to `out`, in the order of the pairs; `raw`: the network's
  // numbers as they are. The errors of Embedder::embed(); texts that are too long together are cut as the reference
  // does it, the longer one first. Of options.texts neither dimensions nor a length of 1 are to be had.
  [[nodiscard]] core::Result<EmbedStats> score(std::span<const TextPair> pairs, std::span<float> out,
                                               const EmbedOptions& options = {}, bool raw = false) const;

  // Its limits, device, tokenizer and queue; and for EmbedTask.
  [[nodiscard]] const Embedder& network() const { return *network_; }

 private:
  explicit CrossEncoder(std::unique_ptr<Embedder> network);

  const std::unique_ptr<Embedder> network_;
  const CrossEncoderConfig config_;
};

// 1 / (1 + exp(-number)).
[[nodiscard]] float sigmoid(float number);

// The positions of documents by their scores, highest first; of equal scores the earlier one. `most`: of how many.
[[nodiscard]] std::vector<std::size_t> rank_by_score(std::span<const float> scores, std::size_t most);

}  // namespace latebind::embedding
