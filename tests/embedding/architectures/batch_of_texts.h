// Token ids of texts as a graph takes them, and what it makes of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "kit/reference/evaluator.h"

namespace latebind::embedding::testing {

// All texts in one batch, padded at their ends with ids that would be seen if a mask did not hide them.
struct BatchOfTexts {
  kit::Array ids;
  kit::Array mask;
};

inline BatchOfTexts batch_of(const nlohmann::json& texts) {
  std::size_t width = 0;
  for (const nlohmann::json& ids : texts)
    width = std::max(width, ids.size());
  BatchOfTexts batch;
  batch.ids.shape = {static_cast<std::int64_t>(texts.size()), static_cast<std::int64_t>(width)};
  batch.mask.shape = batch.ids.shape;
  for (const nlohmann::json& ids : texts) {
    for (std::size_t i = 0; i < width; ++i) {
      batch.ids.values.push_back(i < ids.size() ? ids[i].get<double>() : 7);
      batch.mask.values.push_back(i < ids.size() ? 1 : 0);
    }
  }
  return batch;
}

inline kit::Array vectors_of(const graph::Graph& graph, const BatchOfTexts& batch) {
  return kit::evaluate(graph, {{"input_ids", batch.ids}, {"attention_mask", batch.mask}});
}

}  // namespace latebind::embedding::testing
