// ScoreOutput: scores for two texts together, one for each label. Immutable; safe for concurrent use.
//
// Source: sentence-transformers' CrossEncoder, whose predict() gives these scores.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "embedding/outputs/output.h"

namespace latebind::embedding {

// The function from a network's numbers (logits) to scores.
enum class ScoreFunction : std::uint8_t {
  kIdentity,
  // The following treat each number separately.
  kSigmoid,  // 1 / (1 + exp(-x))
  kTanh,
};

class ScoreOutput final : public Output {
 public:
  struct Parameters {
    ScoreFunction function = ScoreFunction::kIdentity;
    float temperature = 1;              // by which numbers are divided before the function
    std::vector<std::string> labels{};  // the names of the scores, in order
    // The head of the network, if Latebind knows one; otherwise the modules after the pooling give the logits.
    std::optional<ClassifierHead> head = std::nullopt;
    std::optional<TokenHead> token = std::nullopt;
    graph::PoolingMode pooling = graph::PoolingMode::kMean;
    std::vector<VectorModule> modules{};
  };
  explicit ScoreOutput(Parameters parameters);

  [[nodiscard]] NetworkEnd end(bool from_states) const override;
  [[nodiscard]] core::Result<ModelEnd> find_end(const OnnxFile& file, bool from_states) const override;
  [[nodiscard]] bool counts_positions() const override { return parameters_.token.has_value(); }
  [[nodiscard]] std::size_t row_size(const ModelEnd& end) const override;
  void take(std::span<const float> numbers, const ModelEnd& end, const RowTokens& tokens, RowTarget target,
            std::vector<float>& scratch) const override;
  [[nodiscard]] graph::PoolingMode pooling() const override { return parameters_.pooling; }
  [[nodiscard]] core::Json describe() const override;

  [[nodiscard]] const std::vector<std::string>& labels() const { return parameters_.labels; }
  [[nodiscard]] ScoreFunction function() const { return parameters_.function; }
  // Turns the network's numbers into scores, in place.
  void activate(std::span<float> numbers) const;

 private:
  const Parameters parameters_;
};

extern const OutputKind kScoreOutput;

// Returns 1 / (1 + exp(-number)).
[[nodiscard]] float sigmoid(float number);

}  // namespace latebind::embedding
