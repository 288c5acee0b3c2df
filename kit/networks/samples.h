// Samples: small graphs for the checks that need a loaded model of any kind. A backend need take only one of them.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/result.h"
#include "kit/reference/array.h"

namespace latebind::kit {

struct Sample {
  std::string name{};  // "an encoder"
  graph::Graph graph;
  bool is_static = false;
  // Draws a batch of so many rows; kStaticRows of them if the sample is static.
  Inputs (*draw)(std::mt19937& chance, std::int64_t rows) = nullptr;

  static constexpr std::int64_t kStaticRows = 3;
  [[nodiscard]] Inputs batch(std::mt19937& chance, std::int64_t rows) const {
    return draw(chance, is_static ? kStaticRows : rows);
  }
};

// Returns the samples, the richest first.
[[nodiscard]] core::Result<std::vector<Sample>> samples(bool is_static);

}  // namespace latebind::kit
