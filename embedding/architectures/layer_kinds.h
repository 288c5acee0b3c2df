// Networks that mix layers with global and with local attention, each kind with separate rotary angles.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/encoder.h"

namespace latebind::embedding {

struct LayerKinds {
  std::vector<bool> is_local{};  // by layer
  std::size_t window = 0;        // of the local layers: the largest distance
  graph::Rotary rotary{};        // of the global layers
  graph::Rotary local_rotary{};

  // The attention terms of a layer.
  [[nodiscard]] AttentionTerms terms_of(std::size_t layer) const;
};

// Reads `layer_types`: for each of the layers, whether it is local. Returns std::nullopt if the key is absent;
// kInvalidModel or kUnsupported, naming the key, for a list of another length or of other kinds.
[[nodiscard]] core::Result<std::optional<std::vector<bool>>> read_layer_types(const core::Json& config,
                                                                              const std::filesystem::path& file,
                                                                              std::size_t layers);

// The keys of files that are older than `layer_types` and `rope_parameters`.
struct OldLayerKeys {
  const char* pattern = nullptr;  // the interval of global layers
  std::size_t pattern_otherwise = 1;
  bool is_first_global = false;  // the global layer is the first of each interval, not the last
  const char* base = nullptr;
  double base_otherwise = 10000;
  const char* local_base = nullptr;  // 10000 if the key is missing
  bool scales_local = false;         // `rope_scaling` applies to both kinds
};

// Reads everything but the window. Returns kInvalidModel or kUnsupported, naming the key.
[[nodiscard]] core::Status read_layer_kinds(const core::Json& config, const std::filesystem::path& file,
                                            const EncoderSizes& sizes, const OldLayerKeys& old, LayerKinds& kinds);

}  // namespace latebind::embedding
