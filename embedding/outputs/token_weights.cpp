#include "embedding/outputs/token_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "core/text/quote.h"
#include "embedding/folder/refusals.h"
#include "embedding/outputs/onnx_end.h"
#include "embedding/outputs/sparse.h"
#include "embedding/tokenizer/tokenizer.h"
#include "embedding/tokenizer/vocabulary_files/named_token.h"
#include "embedding/weights/floats_of.h"
#include "embedding/weights/open_tensors.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;

// The partial sums of a product, for the registers of a processor.
constexpr std::size_t kSums = 16;

float product_of(std::span<const float> a, const float* b) {
  std::array<float, kSums> sums{};
  std::size_t i = 0;
  for (; i + kSums <= a.size(); i += kSums) {
    for (std::size_t lane = 0; lane < kSums; ++lane)
      sums[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < a.size(); ++i)
    sums[0] += a[i] * b[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0F);
}

}  // namespace

Result<std::shared_ptr<const Output>> read_token_weights(const Declaration& given, NetworkSpec& network) {
  const std::filesystem::path file = given.contents.transformer / kTokenWeightsFile;
  LB_ASSIGN_OR_RETURN(StoredFile stored, given.files.open_file(file));
  LB_ASSIGN_OR_RETURN(const TensorFile tensors, open_tensors(std::move(stored.part), stored.name));
  const auto width = static_cast<std::int64_t>(network.hidden_size);
  LB_ASSIGN_OR_RETURN(const StoredTensor weight, tensors.find("weight", std::array{std::int64_t{1}, width}));
  LB_ASSIGN_OR_RETURN(const StoredTensor bias, tensors.find("bias", std::array{std::int64_t{1}}));
  TokenWeightsOutput::Parameters read{
      .weight = floats_of(weight), .bias = floats_of(bias).front(), .vocabulary = network.network->vocabulary_size()};
  const auto is_finite = [](float number) { return std::isfinite(number); };
  if (!std::ranges::all_of(read.weight, is_finite) || !is_finite(read.bias)) {
    return invalid_file(file, "a number in it is not finite");
  }
  const FolderContents& contents = given.contents;
  LB_ASSIGN_OR_RETURN(const auto map,
                      read_object(given.files, contents.tokenizer / kSpecialTokensFile, kTokenizerConfigLimits));
  for (const auto role : {SpecialTokens::kCls, SpecialTokens::kEos, SpecialTokens::kPad, SpecialTokens::kUnk}) {
    auto token = named_token(contents.tokenizer_config.read, map, role);
    if (!token.ok()) return token.status().with_context(platform::path_to_utf8(contents.tokenizer));
    if (!token->empty()) read.left_out.push_back(*std::move(token));
  }
  return std::shared_ptr<const Output>(std::make_shared<const TokenWeightsOutput>(std::move(read)));
}

TokenWeightsOutput::TokenWeightsOutput(Parameters parameters)
    : Output(kSparseOutput), parameters_(std::move(parameters)) {}

NetworkEnd TokenWeightsOutput::end(bool /*from_states*/) const {
  return {.hidden_states = true};
}

Result<ModelEnd> TokenWeightsOutput::find_end(const OnnxFile& file, bool /*from_states*/) const {
  return find_token_states(file);
}

std::shared_ptr<const Output> TokenWeightsOutput::with_tokenizer(const Tokenizer& tokenizer) const {
  Parameters known = parameters_;
  known.left_out_ids.clear();
  for (const std::string& token : known.left_out) {
    if (const auto id = tokenizer.id_of(token)) known.left_out_ids.push_back(*id);
  }
  std::ranges::sort(known.left_out_ids);
  return std::make_shared<const TokenWeightsOutput>(std::move(known));
}

void TokenWeightsOutput::take(std::span<const float> numbers, const ModelEnd& end, const RowTokens& tokens,
                              RowTarget target, std::vector<float>& /*scratch*/) const {
  SparseVector& to = *target.sparse;
  to.indices.clear();
  for (const std::int32_t id : tokens.ids) {
    if (!std::ranges::binary_search(parameters_.left_out_ids, id)) to.indices.push_back(static_cast<std::uint32_t>(id));
  }
  std::ranges::sort(to.indices);
  // Not std::ranges::unique(), whose result clang 14 rejects in some translation units.
  to.indices.erase(std::unique(to.indices.begin(), to.indices.end()), to.indices.end());
  to.values.assign(to.indices.size(), 0.0F);
  for (std::size_t token = 0; token < tokens.ids.size(); ++token) {
    const auto id = static_cast<std::uint32_t>(tokens.ids[token]);
    const auto found = std::ranges::lower_bound(to.indices, id);
    if (found == to.indices.end() || *found != id) continue;
    const float weight = product_of(parameters_.weight, numbers.data() + token * end.dimension) + parameters_.bias;
    float& largest = to.values[static_cast<std::size_t>(found - to.indices.begin())];
    // Keeps a NaN, which is an error later.
    if (weight > largest || std::isnan(weight)) largest = weight;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < to.indices.size(); ++i) {
    if (to.values[i] == 0) continue;
    to.indices[kept] = to.indices[i];
    to.values[kept++] = to.values[i];
  }
  to.indices.resize(kept);
  to.values.resize(kept);
}

core::Json TokenWeightsOutput::describe() const {
  return {
      {"weight", "relu"}, {"pooling", "max"}, {"weights_of", "the text's tokens"}, {"left_out", parameters_.left_out}};
}

}  // namespace latebind::embedding
