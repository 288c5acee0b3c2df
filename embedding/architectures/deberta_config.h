// Reads DeBERTa's config.json. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "core/graph/operators.h"
#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/encoder_config.h"

namespace latebind::embedding {

struct DebertaConfig {
  EncoderSizes sizes{};
  bool is_first = false;           // the first version, with other tensor names and one matrix for q, k and v
  std::size_t embedding_size = 0;  // the width of word, position and type embeddings
  std::size_t token_type_count = 0;
  bool has_positions = true;  // absolute positions, in addition to relative ones
  // The products with relative positions, and the rows of their tables (graph::Disentangled).
  bool content_to_position = false;
  bool position_to_content = false;
  std::int64_t terms = 1;  // the number of products in a score, which determines its scale
  std::int64_t span = 0;   // 0: no relative positions
  std::optional<std::int64_t> farthest = std::nullopt;
  bool shares_projections = false;  // positions use the projections of tokens
  bool normalizes_positions = false;
  std::size_t kernel = 0;  // the width of the convolution; 0: no convolution
  graph::ActivationFunction convolution_activation = graph::ActivationFunction::kTanh;
};

[[nodiscard]] core::Result<DebertaConfig> read_deberta_config(const core::Json& config,
                                                              const std::filesystem::path& file, bool is_first);

}  // namespace latebind::embedding
