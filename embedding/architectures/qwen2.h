// Qwen2: a decoder like Llama's, with biases of queries, keys and values, and causal attention, or bidirectional
// attention if `is_causal` is false.
//
// Source: Yang et al., "Qwen2 Technical Report" (2024), with the tensor names and the configuration of transformers'
// Qwen2Model. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"
#include "embedding/architectures/decoder.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_qwen2(const core::Json& config,
                                                                      const std::filesystem::path& file);

// Reads the windows of the layers of such a decoder from `use_sliding_window`, `sliding_window`, `layer_types` and
// `max_window_layers`; see PlainDecoder::windows. Returns kInvalidModel or kUnsupported, naming the key.
[[nodiscard]] core::Result<std::vector<std::optional<std::size_t>>> read_qwen_windows(const core::Json& config,
                                                                                      const std::filesystem::path& file,
                                                                                      const DecoderConfig& decoder);

}  // namespace latebind::embedding
