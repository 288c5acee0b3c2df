// Networks in which some layers attend to all tokens and the others to near ones alone, each kind with its own angles
// of rotary positions.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "embedding/architectures/encoder.h"

namespace latebind::embedding {

struct LayerKinds {
  std::vector<bool> is_local{};  // by layer
  std::size_t window = 0;        // of those: the farthest distance
  graph::Rotary rotary{};        // of the others
  graph::Rotary local_rotary{};

  // What attention of that layer knows of the places of tokens.
  [[nodiscard]] AttentionTerms terms_of(std::size_t layer) const;
};

// Where older files than those with `layer_types` and `rope_parameters` say the same.
struct OldLayerKeys {
  const char* pattern = nullptr;  // every so manyth layer attends to all tokens
  std::size_t pattern_otherwise = 1;
  bool is_first_global = false;  // the first of so many layers does, else the last
  const char* base = nullptr;
  double base_otherwise = 10000;
  const char* local_base = nullptr;  // 10000 where it is not there
  bool scales_local = false;         // `rope_scaling` is of both kinds
};

// All but the window. kInvalidModel and kUnsupported, naming the key.
[[nodiscard]] core::Status read_layer_kinds(const nlohmann::json& config, const std::filesystem::path& file,
                                            const EncoderSizes& sizes, const OldLayerKeys& old, LayerKinds& kinds);

}  // namespace latebind::embedding
