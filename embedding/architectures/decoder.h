// The common part of decoders that are used to embed texts: names of tensors and sizes as in transformers' Llama and
// its successors, RMS norms before the parts of a layer and optionally of each head's queries and keys, grouped-query
// attention, and gated feed-forward parts.
//
// Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/encoder.h"

namespace latebind::embedding {

inline constexpr std::string_view kDecoderPrefix = "model.";
inline constexpr const char* kDecoderWords = "embed_tokens.weight";

struct DecoderConfig {
  EncoderSizes sizes{};
  bool attention_bias = false;
  // `is_causal`. A null is refused, because transformers then treats a single text as causal but a padded one as not.
  bool causal = true;
};

// Reads everything but the kind of norm and the activation, whose key varies. Returns kInvalidModel or kUnsupported,
// naming the key.
[[nodiscard]] core::Result<DecoderConfig> read_decoder(const core::Json& config, const std::filesystem::path& file);

// The tensors of a layer, below "layers.0.", with norms before its two parts only.
[[nodiscard]] LayerNames decoder_names(const DecoderConfig& config);

}  // namespace latebind::embedding
