// TokenWeightsOutput: a weight for each token of a text that its vector gives, as a sparse vector: of equal tokens the
// largest weight, and none for special tokens. Immutable; safe for concurrent use.
//
// Source: Chen et al., "BGE M3-Embedding" (2024), as FlagEmbedding computes the lexical weights of bge-m3, with
// `sparse_linear.pt` beside the network.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "embedding/outputs/output.h"

namespace latebind::embedding {

class TokenWeightsOutput final : public Output {
 public:
  struct Parameters {
    std::vector<float> weight{};  // a number for each of a token vector's
    float bias = 0;
    std::size_t vocabulary = 0;
    std::vector<std::string> left_out{};       // tokens without a weight
    std::vector<std::int32_t> left_out_ids{};  // their ids, ascending; set by with_tokenizer()
  };
  explicit TokenWeightsOutput(Parameters parameters);

  [[nodiscard]] NetworkEnd end(bool from_states) const override;
  [[nodiscard]] core::Result<ModelEnd> find_end(const OnnxFile& file, bool from_states) const override;
  [[nodiscard]] std::size_t row_size(const ModelEnd& /*end*/) const override { return parameters_.vocabulary; }
  void take(std::span<const float> numbers, const ModelEnd& end, const RowTokens& tokens, RowTarget target,
            std::vector<float>& scratch) const override;
  [[nodiscard]] std::shared_ptr<const Output> with_tokenizer(const Tokenizer& tokenizer) const override;
  [[nodiscard]] core::Json describe() const override;

 private:
  const Parameters parameters_;
};

// The file beside the network that has the weight and the bias.
inline constexpr std::string_view kTokenWeightsFile = "sparse_linear.pt";
// Reads that file for OutputKind::read_beside.
[[nodiscard]] core::Result<std::shared_ptr<const Output>> read_token_weights(const Declaration& given,
                                                                             NetworkSpec& network);

}  // namespace latebind::embedding
