// Rotary positions as described by transformers' config.json: the base of the angles, and how the angles are scaled for
// texts longer than those of the training ("rope_scaling").
//
// Source: transformers' rope types default, dynamic, linear, yarn and llama3, and "ntk" of GTE's published files. Pure
// functions, for any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "core/graph/operators.h"
#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/encoder.h"

namespace latebind::embedding {

// The heads that the angles are for.
struct RotaryHeads {
  std::size_t width = 0;      // columns of a head
  std::size_t positions = 0;  // of the longest text
};
[[nodiscard]] RotaryHeads rotary_heads_of(const EncoderSizes& sizes);

// Reads `rope_scaling` or `rope_parameters` and the keys beside them. `base` is the default. Returns kInvalidModel or
// kUnsupported, naming the key, for anything but the types above applied to all columns.
[[nodiscard]] core::Result<graph::Rotary> read_rotary(const core::Json& config, const std::filesystem::path& file,
                                                      const RotaryHeads& heads, double base);
// Reads an object like transformers' `rope_parameters`, which messages call `name`.
[[nodiscard]] core::Result<graph::Rotary> read_rope_parameters(const core::Json& parameters,
                                                               const std::filesystem::path& file,
                                                               const std::string& name, const RotaryHeads& heads,
                                                               double base);
// Reads only the base, from a separate key.
[[nodiscard]] core::Result<double> read_rotary_base(const core::Json& config, const char* key, double otherwise,
                                                    const std::filesystem::path& file);
// Returns unscaled angles, or kInvalidModel if a head has an odd number of columns.
[[nodiscard]] core::Result<graph::Rotary> plain_rotary(const std::filesystem::path& file, const RotaryHeads& heads,
                                                       double base);

}  // namespace latebind::embedding
