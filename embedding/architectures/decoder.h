// The common part of decoders that are used to embed texts: names of tensors and sizes as in transformers' Llama and
// its successors, RMS norms before the parts of a layer and optionally of each head's queries and keys, grouped-query
// attention, gated feed-forward parts, and the network that consists of nothing else.
//
// Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/encoder.h"

namespace latebind::embedding {

inline constexpr std::string_view kDecoderPrefix = "model.";
inline constexpr const char* kDecoderWords = "embed_tokens.weight";

struct DecoderConfig {
  EncoderSizes sizes{};
  bool query_bias = false;     // also of key and value
  bool attended_bias = false;  // of the projection that joins the heads
  bool mlp_bias = false;       // of the feed-forward parts
  bool has_head_norms = false;
  bool causal = true;
};

// The defaults of transformers' configuration classes for absent keys.
enum class HeadKeys : std::uint8_t {
  kRequired,  // `num_key_value_heads` and `head_dim` have defaults that do not depend on the other sizes
  kWidth,     // `head_dim` is `hidden_size` / `num_attention_heads`
  kBoth,      // likewise, and `num_key_value_heads` is `num_attention_heads`
};

// Reads everything but the kind of norm, the activation, whose key varies, and whether attention is causal.
// `attention_bias` sets both biases. Returns kInvalidModel or kUnsupported, naming the key.
[[nodiscard]] core::Result<DecoderConfig> read_decoder(const core::Json& config, const std::filesystem::path& file,
                                                       HeadKeys keys = HeadKeys::kRequired);

// Reads `is_causal`, true by default. A null is refused, because transformers then treats a single text as causal but a
// padded one as not.
[[nodiscard]] core::Result<bool> read_causal(const core::Json& config, const std::filesystem::path& file);

// The tensors of a layer, below "layers.0.", with norms before its two parts only.
[[nodiscard]] LayerNames decoder_names(const DecoderConfig& config);

// Adds the names of the norms after the two parts of a layer, which Gemma has since its second version.
void add_end_norms(LayerNames& names);

// A decoder that consists of word embeddings, pre-norm layers with one kind of rotary angles, and a norm.
struct PlainDecoder {
  DecoderConfig config{};
  graph::Rotary rotary{};
  // The largest distance to a token that a layer attends to, for each layer; empty if no layer has a limit.
  std::vector<std::optional<std::size_t>> windows{};
  std::optional<float> word_scale = std::nullopt;  // of the word embeddings
  std::optional<float> scale = std::nullopt;       // the scale of attention; see AttentionTerms
  std::optional<float> soft_cap = std::nullopt;
  bool has_end_norms = false;  // a norm after each part, before the sum, as in Gemma 2
};
[[nodiscard]] std::shared_ptr<const Network> make_plain_decoder(PlainDecoder decoder);
// Reads what read_decoder() reads, the activation, SiLU by default, and the rotary angles.
[[nodiscard]] core::Result<PlainDecoder> read_plain_decoder(const core::Json& config, const std::filesystem::path& file,
                                                            HeadKeys keys = HeadKeys::kRequired);

// Reads `sliding_window`, of which a token itself is a part, as the largest distance. Returns std::nullopt if it is
// null or absent.
[[nodiscard]] core::Result<std::optional<std::size_t>> read_causal_window(const core::Json& config,
                                                                          const std::filesystem::path& file);

}  // namespace latebind::embedding
