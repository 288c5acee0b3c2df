// What the protocols for reranking make of a cross-encoder's numbers. Pure functions, for any thread.
#pragma once

#include <vector>

#include "embedding/cross_encoder.h"
#include "server/service.h"

namespace latebind::server {

// Between 0 and 1, as these protocols have them whatever function the model's files name.
[[nodiscard]] inline std::vector<float> relevance_of(const Vectors& numbers) {
  std::vector<float> scores;
  scores.reserve(numbers.rows.size());
  for (const float number : numbers.rows)
    scores.push_back(embedding::sigmoid(number));
  return scores;
}

}  // namespace latebind::server
