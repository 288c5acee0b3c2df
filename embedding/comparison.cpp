#include "embedding/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <variant>

#include "core/text/quote.h"
#include "embedding/outputs/dense.h"
#include "embedding/outputs/multi_vector.h"
#include "embedding/outputs/sparse.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

// The outputs of the mixed score, in the order of its weights.
constexpr std::array kMixed{&kDenseOutput, &kSparseOutput, &kMultiVectorOutput};

std::vector<std::string> mixed_names() {
  std::vector<std::string> names;
  for (const OutputKind* const kind : kMixed)
    names.emplace_back(kind->name);
  return names;
}

double product_of_rows(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

}  // namespace

Result<MixedWeights> MixedWeights::of(std::span<const double> numbers) {
  const auto is_weight = [](double number) { return std::isfinite(number) && number >= 0 && number <= 1e6; };
  const bool fits = numbers.size() == 3 && std::ranges::all_of(numbers, is_weight) &&
                    std::ranges::any_of(numbers, [](double number) { return number > 0; });
  if (!fits) {
    return Status(StatusCode::kInvalidArgument,
                  "the weights of the mixed score are three numbers from 0 on, for dense, sparse and multi_vector, and "
                  "not all 0");
  }
  return MixedWeights{.dense = static_cast<float>(numbers[0]),
                      .sparse = static_cast<float>(numbers[1]),
                      .multi_vector = static_cast<float>(numbers[2])};
}

Result<MixedWeights> MixedWeights::parse(std::string_view text) {
  std::vector<double> numbers;
  std::string_view rest = text;
  while (numbers.size() < 4) {
    double number = -1;
    const std::string_view one = rest.substr(0, rest.find(','));
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), number);
    numbers.push_back(error == std::errc() && end == one.data() + one.size() ? number : -1);
    if (one.size() == rest.size()) break;
    rest.remove_prefix(one.size() + 1);
  }
  auto weights = of(numbers);
  if (!weights.ok()) return weights.status().with_context(core::quoted(text));
  return weights;
}

std::vector<std::string> compared_outputs(const OutputList& has) {
  const auto gives = [&](const OutputKind* kind) {
    return std::ranges::any_of(has, [kind](const auto& output) { return &output->kind() == kind; });
  };
  if (&has.front()->kind() == &kMultiVectorOutput) return {std::string(kMultiVectorOutput.name)};
  return std::ranges::all_of(kMixed, gives) ? mixed_names() : std::vector<std::string>();
}

std::optional<Comparison> Comparison::of(std::span<const BoundOutput> outputs, const MixedWeights& weights) {
  OutputList has;
  Comparison made;
  for (const BoundOutput& bound : outputs) {
    has.push_back(bound.output);
    if (as<MultiVectorOutput>(*bound.output) != nullptr) made.multi_vector_ = bound.output;
  }
  made.outputs_ = compared_outputs(has);
  made.weights_ = weights;
  return made.outputs_.empty() ? std::nullopt : std::optional(std::move(made));
}

std::vector<float> Comparison::scores(std::span<const OutputResult> query,
                                      std::span<const OutputResult> documents) const {
  const auto& of_tokens = *as<MultiVectorOutput>(*multi_vector_);
  const auto& asked = std::get<RaggedRows>(query.back());
  const auto& rows = std::get<RaggedRows>(documents.back());
  std::vector<float> scores(rows.size());
  for (std::size_t i = 0; i < scores.size(); ++i)
    scores[i] = of_tokens.compare(asked.numbers, rows.of(i), rows.dimension);
  if (!is_mixed()) return scores;
  const auto& dense = std::get<Rows>(documents[0]);
  const auto& sparse = std::get<SparseRows>(documents[1]);
  const auto [d, s, m] = weights_;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double of_vectors = product_of_rows(std::get<Rows>(query[0]).numbers,
                                              std::span(dense.numbers).subspan(i * dense.dimension, dense.dimension));
    const double of_terms = dot(std::get<SparseRows>(query[1]).vectors.front(), sparse.vectors[i]);
    scores[i] = static_cast<float>((d * of_vectors + s * of_terms + m * static_cast<double>(scores[i])) /
                                   (static_cast<double>(d) + s + m));
  }
  return scores;
}

}  // namespace latebind::embedding
