// What networks have in common that are made as decoders of text and embed: names of tensors and sizes as transformers
// has them for Llama and its successors, RMS norms before the parts, of each head's queries and keys too, keys that
// several heads share, and feed-forward parts with a gate.
//
// Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/json.h"
#include "core/result.h"
#include "embedding/architectures/encoder.h"

namespace latebind::embedding {

inline constexpr std::string_view kDecoderPrefix = "model.";
inline constexpr const char* kDecoderWords = "embed_tokens.weight";

struct DecoderConfig {
  EncoderSizes sizes{};
  bool attention_bias = false;
  // `is_causal`. A null is refused: to transformers it is true of a text alone and false of one that is padded.
  bool causal = true;
};

// All but the kind of norm and the activation, whose key differs. kInvalidModel or kUnsupported, naming the key.
[[nodiscard]] core::Result<DecoderConfig> read_decoder(const nlohmann::json& config, const std::filesystem::path& file);

// The tensors of a layer below "layers.0.", with norms before its two parts and none behind them.
[[nodiscard]] LayerNames decoder_names(const DecoderConfig& config);

}  // namespace latebind::embedding
