#include "embedding/outputs/token_vectors.h"

#include <algorithm>
#include <memory>

#include "embedding/outputs/onnx_end.h"

namespace latebind::embedding {

namespace {

core::Result<std::shared_ptr<const Output>> read_token_vectors(const Declaration& /*given*/,
                                                               const NetworkSpec& /*network*/) {
  return std::shared_ptr<const Output>(std::make_shared<const TokenVectorsOutput>());
}

}  // namespace

const OutputKind kTokenVectorsOutput{
    .name = "token_vectors", .form = ResultForm::kRaggedRows, .noun = "vectors of tokens", .read = read_token_vectors};

TokenVectorsOutput::TokenVectorsOutput() : Output(kTokenVectorsOutput) {}

NetworkEnd TokenVectorsOutput::end(bool /*from_states*/) const {
  return {.hidden_states = true};
}

core::Result<ModelEnd> TokenVectorsOutput::find_end(const OnnxFile& file, bool /*from_states*/) const {
  return find_token_states(file);
}

void TokenVectorsOutput::take(std::span<const float> numbers, const ModelEnd& end, const RowTokens& tokens,
                              RowTarget target, std::vector<float>& /*scratch*/) const {
  take_token_vectors(numbers, end.dimension, tokens, target.numbers);
}

core::Json TokenVectorsOutput::describe() const {
  return {{"pooling", "none"}};
}

float* take_token_vectors(std::span<const float> numbers, std::size_t dimension, const RowTokens& tokens, float* to) {
  for (std::size_t token = 0; token < tokens.count; ++token) {
    if (!tokens.kept.empty() && tokens.kept[token] == 0) continue;
    to = std::ranges::copy(numbers.subspan(token * dimension, dimension), to).out;
  }
  return to;
}

}  // namespace latebind::embedding
