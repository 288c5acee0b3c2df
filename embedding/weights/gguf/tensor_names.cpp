#include "embedding/weights/gguf/tensor_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace latebind::embedding {
namespace {

using core::Result;

// Names without the suffixes ".weight" and ".bias", and without "blk.N.".
struct NamePair {
  std::string_view there;
  std::string_view here;
};

constexpr std::array kGgufBertOwn{NamePair{"token_embd", "embeddings.word_embeddings"},
                                  NamePair{"position_embd", "embeddings.position_embeddings"},
                                  NamePair{"token_types", "embeddings.token_type_embeddings"},
                                  NamePair{"token_embd_norm", "embeddings.LayerNorm"},
                                  NamePair{"cls", "pooler.dense"},
                                  NamePair{"cls.output", "classifier"}};
constexpr std::array kGgufBertLayer{NamePair{"attn_q", "attention.self.query"},
                                    NamePair{"attn_k", "attention.self.key"},
                                    NamePair{"attn_v", "attention.self.value"},
                                    NamePair{"attn_output", "attention.output.dense"},
                                    NamePair{"attn_output_norm", "attention.output.LayerNorm"},
                                    NamePair{"ffn_up", "intermediate.dense"},
                                    NamePair{"ffn_down", "output.dense"},
                                    NamePair{"layer_output_norm", "output.LayerNorm"}};
constexpr std::array kGgufNomicOwn{NamePair{"token_embd", "embeddings.word_embeddings"},
                                   NamePair{"token_types", "embeddings.token_type_embeddings"},
                                   NamePair{"token_embd_norm", "emb_ln"}};
constexpr std::array kGgufNomicLayer{NamePair{"attn_qkv", "attn.Wqkv"},     NamePair{"attn_output", "attn.out_proj"},
                                     NamePair{"attn_output_norm", "norm1"}, NamePair{"ffn_up", "mlp.fc11"},
                                     NamePair{"ffn_gate", "mlp.fc12"},      NamePair{"ffn_down", "mlp.fc2"},
                                     NamePair{"layer_output_norm", "norm2"}};
constexpr std::array kGgufDecoderOwn{NamePair{"token_embd", "embed_tokens"}, NamePair{"output_norm", "norm"},
                                     NamePair{"cls.output", "score"}, NamePair{"dense_2", "2_Dense/linear"},
                                     NamePair{"dense_3", "3_Dense/linear"}};
constexpr std::array kGgufDecoderLayer{
    NamePair{"attn_norm", "input_layernorm"},    NamePair{"attn_q", "self_attn.q_proj"},
    NamePair{"attn_k", "self_attn.k_proj"},      NamePair{"attn_v", "self_attn.v_proj"},
    NamePair{"attn_q_norm", "self_attn.q_norm"}, NamePair{"attn_k_norm", "self_attn.k_norm"},
    NamePair{"attn_output", "self_attn.o_proj"}, NamePair{"ffn_norm", "post_attention_layernorm"},
    NamePair{"ffn_gate", "mlp.gate_proj"},       NamePair{"ffn_up", "mlp.up_proj"},
    NamePair{"ffn_down", "mlp.down_proj"}};
// The norms of layers that have them before and after both parts. They take precedence over kGgufDecoderLayer.
constexpr std::array kFourNorms{NamePair{"ffn_norm", "pre_feedforward_layernorm"},
                                NamePair{"post_attention_norm", "post_attention_layernorm"},
                                NamePair{"post_ffw_norm", "post_feedforward_layernorm"}};

struct NamesOfArchitecture {
  std::string_view architecture;
  std::span<const NamePair> own;
  std::string_view layers;  // "layers.", followed by a number and "."
  std::span<const NamePair> first_layer_names;
  std::span<const NamePair> layer;
  bool interleaves_heads = false;
  float added_to_norms = 0.0F;
};

constexpr std::array kNamesByArchitecture{
    NamesOfArchitecture{"bert", kGgufBertOwn, "encoder.layer.", {}, kGgufBertLayer},
    NamesOfArchitecture{"gemma", kGgufDecoderOwn, "layers.", {}, kGgufDecoderLayer, false, 1.0F},
    NamesOfArchitecture{"gemma-embedding", kGgufDecoderOwn, "layers.", kFourNorms, kGgufDecoderLayer, false, 1.0F},
    NamesOfArchitecture{"gemma3", kGgufDecoderOwn, "layers.", kFourNorms, kGgufDecoderLayer, false, 1.0F},
    NamesOfArchitecture{"llama", kGgufDecoderOwn, "layers.", {}, kGgufDecoderLayer, true},
    NamesOfArchitecture{"nomic-bert", kGgufNomicOwn, "encoder.layers.", {}, kGgufNomicLayer},
    NamesOfArchitecture{"qwen2", kGgufDecoderOwn, "layers.", {}, kGgufDecoderLayer},
    NamesOfArchitecture{"qwen3", kGgufDecoderOwn, "layers.", {}, kGgufDecoderLayer},
};

const NamesOfArchitecture* find_names(std::string_view architecture) {
  const auto* const found = std::ranges::find(kNamesByArchitecture, architecture, &NamesOfArchitecture::architecture);
  return found == kNamesByArchitecture.end() ? nullptr : found;
}

std::string_view name_there(std::span<const NamePair> pairs, std::string_view here) {
  const auto found = std::ranges::find(pairs, here, &NamePair::here);
  return found == pairs.end() ? std::string_view() : found->there;
}

std::string_view name_here(std::span<const NamePair> pairs, std::string_view there) {
  const auto found = std::ranges::find(pairs, there, &NamePair::there);
  return found == pairs.end() ? std::string_view() : found->here;
}

// Removes "blk.N." from the front of the name and returns it. Returns an empty view if the name begins differently, or
// if N has leading zeros, because each layer has exactly one name.
std::string_view take_layer(std::string_view& name) {
  constexpr std::string_view kLayer = "blk.";
  if (!name.starts_with(kLayer)) return {};
  const std::size_t end = name.find('.', kLayer.size());
  if (end == std::string_view::npos) return {};
  const std::string_view number = name.substr(kLayer.size(), end - kLayer.size());
  const bool is_number = !number.empty() && std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number || (number.size() > 1 && number.front() == '0')) return {};
  name.remove_prefix(end + 1);
  return number;
}

}  // namespace

bool has_gguf_names(std::string_view architecture) {
  return find_names(architecture) != nullptr;
}

Result<GgufNames> GgufNames::of(const GgufHeader& header) {
  GgufNames names;
  names.architecture_ = header.architecture();
  const NamesOfArchitecture* const known = find_names(names.architecture_);
  if (known == nullptr || !known->interleaves_heads) return names;
  const std::string place = fmt::format("{}.attention.", names.architecture_);
  LB_ASSIGN_OR_RETURN(const auto heads, header.whole(place + "head_count"));
  LB_ASSIGN_OR_RETURN(const auto key_heads, header.whole(place + "head_count_kv"));
  names.heads_ = static_cast<std::size_t>(heads.value_or(0));
  names.key_heads_ = static_cast<std::size_t>(key_heads.value_or(names.heads_));
  constexpr std::size_t kLlamaHeadsMax = 4096;
  if (names.heads_ == 0 || names.heads_ > kLlamaHeadsMax || names.key_heads_ == 0 ||
      names.key_heads_ > kLlamaHeadsMax) {
    return core::Status(core::StatusCode::kInvalidModel,
                        fmt::format("{}: {} heads and {} of keys", header.name(), names.heads_, names.key_heads_));
  }
  return names;
}

std::string GgufNames::name_in_file(std::string_view name) const {
  const NamesOfArchitecture* const known = find_names(architecture_);
  const std::size_t dot = name.rfind('.');
  if (known == nullptr || dot == std::string_view::npos) return std::string(name);
  const std::string_view suffix = name.substr(dot);
  const std::string_view stem = name.substr(0, dot);
  if (const std::string_view own = name_there(known->own, stem); !own.empty()) return fmt::format("{}{}", own, suffix);
  if (!stem.starts_with(known->layers)) return std::string(name);
  const std::string_view in_layers = stem.substr(known->layers.size());
  const std::size_t end = in_layers.find('.');
  if (end == std::string_view::npos) return std::string(name);
  std::string_view there = name_there(known->first_layer_names, in_layers.substr(end + 1));
  if (there.empty()) there = name_there(known->layer, in_layers.substr(end + 1));
  return there.empty() ? std::string(name) : fmt::format("blk.{}.{}{}", in_layers.substr(0, end), there, suffix);
}

std::optional<GgufName> GgufNames::rename(std::string_view tensor) const {
  const NamesOfArchitecture* const known = find_names(architecture_);
  if (known == nullptr) return std::nullopt;
  std::string_view suffix;
  for (const std::string_view one : {".weight", ".bias"}) {
    if (tensor.ends_with(one)) suffix = one;
  }
  if (suffix.empty()) return std::nullopt;
  std::string_view stem = tensor.substr(0, tensor.size() - suffix.size());
  const std::string_view layer = take_layer(stem);
  std::string_view here;
  if (layer.empty()) {
    here = name_here(known->own, stem);
  } else {
    here = name_here(known->first_layer_names, stem);
    if (here.empty()) here = name_here(known->layer, stem);
  }
  if (here.empty()) return std::nullopt;
  GgufName found;
  found.name =
      layer.empty() ? fmt::format("{}{}", here, suffix) : fmt::format("{}{}.{}{}", known->layers, layer, here, suffix);
  const bool is_norm = stem.ends_with("norm");
  found.is_matrix = !is_norm && suffix == ".weight";
  if (is_norm && suffix == ".weight") found.added = known->added_to_norms;
  if (known->interleaves_heads && stem == "attn_q") found.interleaved_heads = heads_;
  if (known->interleaves_heads && stem == "attn_k") found.interleaved_heads = key_heads_;
  return found;
}

}  // namespace latebind::embedding
