// Converts a model's numbers to the scores that the protocols return. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "embedding/outputs/score.h"
#include "server/service.h"

namespace latebind::server {

// A cross-encoder's scores are between 0 and 1, as these protocols require, whatever activation the model's files name.
// A multi-vector encoder's are returned unchanged: MaxSim has no such bounds, and a sigmoid would turn all of them into
// 1.
[[nodiscard]] inline std::vector<float> relevance_of(const Vectors& numbers) {
  if (!numbers.model->gives(embedding::kScoreOutput.name)) return numbers.rows().numbers;
  std::vector<float> scores;
  scores.reserve(numbers.rows().numbers.size());
  for (const float number : numbers.rows().numbers)
    scores.push_back(embedding::sigmoid(number));
  return scores;
}

// The cosine of two unit vectors.
[[nodiscard]] inline float cosine_of(std::span<const float> a, std::span<const float> b) {
  double product = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    product += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return static_cast<float>(product);
}

}  // namespace latebind::server
