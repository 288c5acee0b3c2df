#include "embedding/architectures/lfm2.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "embedding/architectures/decoder.h"
#include "embedding/architectures/encoder.h"
#include "embedding/architectures/rotary.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using core::Status;
using graph::Value;
using std::filesystem::path;

// The limit of a convolution's width; published networks have 3.
constexpr std::size_t kShortConvolutionMax = 64;

constexpr LayerNames kLfmNames{.query = "self_attn.q_proj",
                               .key = "self_attn.k_proj",
                               .value = "self_attn.v_proj",
                               .query_norm = "self_attn.q_layernorm",
                               .key_norm = "self_attn.k_layernorm",
                               .attended = "self_attn.out_proj",
                               .wide = "feed_forward.w1",
                               .gate = "feed_forward.w3",
                               .narrow = "feed_forward.w2",
                               .query_bias = false,
                               .attended_bias = false,
                               .wide_bias = false,
                               .narrow_bias = false};

struct LfmConfig {
  EncoderSizes sizes{};
  graph::Rotary rotary{};
  bool causal = true;           // whether attention is causal; convolutions always are
  std::vector<bool> attends{};  // by layer; the others have a convolution
  std::size_t convolution = 0;  // tokens
  bool convolution_bias = false;
};

class LfmNetwork final : public EncoderNetwork {
 public:
  explicit LfmNetwork(LfmConfig config) : EncoderNetwork(config.sizes), config_(std::move(config)) {}

  [[nodiscard]] Result<graph::Graph> make_graph(const ModelWeights& weights, const NetworkUse& use) const override {
    if (use.may_be_unattended) {
      return Status(core::StatusCode::kUnsupported,
                    "LFM2's convolutions do not support unattended tokens, with which this model expands queries");
    }
    EncoderBuilder encoder(sizes(), weights, use, kDecoderPrefix, kDecoderWords);
    encoder.set_terms({.rotary = config_.rotary, .causal = config_.causal});
    const std::size_t hidden = sizes().hidden;
    const auto [ids, mask] = encoder.inputs();
    LB_ASSIGN_OR_RETURN(Value x, encoder.words(ids, hidden));
    for (std::size_t i = 0; i < sizes().layers; ++i) {
      const std::string place = fmt::format("layers.{}.", i);
      LB_ASSIGN_OR_RETURN(Value part, encoder.norm(x, hidden, place + "operator_norm"));
      LB_ASSIGN_OR_RETURN(part, config_.attends[i] ? encoder.attention(part, mask, place, kLfmNames)
                                                   : convolve(encoder, part, mask, place + "conv."));
      x = encoder.graph().add(graph::Add{.a = part, .b = x});
      LB_ASSIGN_OR_RETURN(part, encoder.norm(x, hidden, place + "ffn_norm"));
      LB_ASSIGN_OR_RETURN(part, encoder.feed_forward(part, place, kLfmNames));
      x = encoder.graph().add(graph::Add{.a = part, .b = x});
    }
    LB_ASSIGN_OR_RETURN(x, encoder.norm(x, hidden, "embedding_norm"));
    return std::move(encoder).finish(x, mask);
  }

 private:
  // One projection gives two gates and the value: the first gate precedes the convolution, the second one follows it.
  [[nodiscard]] Result<Value> convolve(EncoderBuilder& encoder, Value x, Value mask, const std::string& place) const {
    const std::size_t hidden = sizes().hidden;
    std::array<Value, 3> parts{};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      LB_ASSIGN_OR_RETURN(
          parts[i], encoder.linear_of(x, place + "in_proj", hidden, hidden, i, parts.size(), config_.convolution_bias));
    }
    LB_ASSIGN_OR_RETURN(auto weight, encoder.weight(place + "conv.weight", {hidden, 1, config_.convolution}));
    weight.shape = {static_cast<std::int64_t>(hidden), static_cast<std::int64_t>(config_.convolution)};
    graph::ShortConvolution convolution{.x = encoder.graph().add(graph::Multiply{.a = parts[0], .b = parts[2]}),
                                        .mask = mask,
                                        .weight = std::move(weight)};
    if (config_.convolution_bias) {
      LB_ASSIGN_OR_RETURN(convolution.bias, encoder.weight(place + "conv.bias", {hidden}));
    }
    const Value passed = encoder.graph().add(std::move(convolution));
    const Value gated = encoder.graph().add(graph::Multiply{.a = parts[1], .b = passed});
    return encoder.linear(gated, place + "out_proj", hidden, hidden, config_.convolution_bias);
  }

  const LfmConfig config_;
};

// Reads `layer_types`, or, in older files, the indices of the layers with attention; the other layers have a
// convolution.
Status read_layers(const Json& config, const path& file, LfmConfig& lfm) {
  const std::size_t layers = lfm.sizes.layers;
  constexpr std::array<std::string_view, 2> kKinds{"full_attention", "conv"};
  if (const auto* const types = core::find_member(config, "layer_types"); types != nullptr) {
    if (!types->is_array() || types->size() != layers)
      return invalid_file(file, fmt::format("'layer_types' is not a list of {} layers", layers));
    for (const Json& type : *types) {
      if (type != kKinds[0] && type != kKinds[1]) {
        return unsupported_file(file, fmt::format("'layer_types' has {}{}", core::printable_json(type),
                                                  core::supported_instead(core::printable_json(type), kKinds)));
      }
      lfm.attends.push_back(type == kKinds[0]);
    }
    return {};
  }
  const auto* const given = core::find_member(config, "full_attn_idxs");
  lfm.attends.assign(layers, given == nullptr);
  if (given == nullptr) return {};
  if (!given->is_array()) return invalid_file(file, "'full_attn_idxs' is not a list");
  for (const Json& one : *given) {
    const double number = one.is_number() ? one.get<double>() : -1;
    // The reference ignores a layer that does not exist.
    if (number != std::floor(number) || number < 0)
      return invalid_file(
          file, fmt::format("'full_attn_idxs' has {}, which is not the index of a layer", core::printable_json(one)));
    if (number < static_cast<double>(layers)) lfm.attends[static_cast<std::size_t>(number)] = true;
  }
  return {};
}

// Reads the width of the feed-forward parts. Files give the width before its adjustment.
Status read_intermediate(const Json& config, const path& file, EncoderSizes& sizes) {
  const std::string name = platform::path_to_utf8(file);
  LB_ASSIGN_OR_RETURN(const auto old_width, core::read_size(config, "block_ff_dim", 1, kIntermediateMax, name));
  if (old_width) {
    sizes.intermediate = *old_width;
  } else {
    LB_RETURN_IF_ERROR(read_sizes(config, file, {{"intermediate_size", kIntermediateMax, &sizes.intermediate}}));
  }
  LB_ASSIGN_OR_RETURN(const bool is_adjusted, core::read_bool(config, "block_auto_adjust_ff_dim", true, name));
  if (!is_adjusted) return {};
  sizes.intermediate = 2 * sizes.intermediate / 3;
  const auto multiplier = config.find("block_ffn_dim_multiplier");
  if (multiplier != nullptr && multiplier->is_null()) return {};
  const double factor = multiplier == nullptr ? 1.0 : multiplier->is_number() ? multiplier->get<double>() : 0.0;
  if (!(factor > 0 && factor <= 16)) return invalid_file(file, "'block_ffn_dim_multiplier' is not between 0 and 16");
  LB_ASSIGN_OR_RETURN(const auto multiple, core::read_size(config, "block_multiple_of", 1, kIntermediateMax, name));
  const std::size_t of = multiple.value_or(256);
  const auto scaled = static_cast<std::size_t>(factor * static_cast<double>(sizes.intermediate));
  sizes.intermediate = (scaled + of - 1) / of * of;
  if (sizes.intermediate > 0 && sizes.intermediate <= kIntermediateMax) return {};
  return invalid_file(file, fmt::format("'intermediate_size' is {} after its adjustment", sizes.intermediate));
}

// Some published files with this `model_type` use other code, whose attention is bidirectional.
Status refuse_own_code(const Json& config, const path& file) {
  const auto* const map = core::find_member(config, "auto_map");
  const auto* const model = map != nullptr && map->is_object() ? map->find("AutoModel") : nullptr;
  if (model == nullptr || !model->is_string()) return {};
  const std::string& code = model->text();
  if (code.substr(code.rfind('.') + 1) == "Lfm2Model") return {};
  return unsupported_file(
      file, fmt::format("'auto_map' names a network of the repository's own code: '{}'", core::printable(code)));
}

}  // namespace

Result<std::shared_ptr<const Network>> read_lfm2(const Json& config, const path& file) {
  const std::string name = platform::path_to_utf8(file);
  LB_RETURN_IF_ERROR(refuse_variants_of_all(config, file, "absolute"));
  LB_RETURN_IF_ERROR(refuse_own_code(config, file));
  LfmConfig lfm;
  LB_ASSIGN_OR_RETURN(lfm.causal, read_causal(config, file));
  EncoderSizes& sizes = lfm.sizes;
  LB_RETURN_IF_ERROR(read_sizes(config, file,
                                {{"hidden_size", kHiddenSizeMax, &sizes.hidden},
                                 {"num_hidden_layers", kLayersMax, &sizes.layers},
                                 {"num_attention_heads", kHeadsMax, &sizes.heads},
                                 {"num_key_value_heads", kHeadsMax, &sizes.key_heads},
                                 {"vocab_size", kVocabularyMax, &sizes.vocabulary},
                                 {"max_position_embeddings", kTokensMax, &sizes.positions},
                                 {"conv_L_cache", kShortConvolutionMax, &lfm.convolution}}));
  LB_RETURN_IF_ERROR(read_intermediate(config, file, sizes));
  LB_ASSIGN_OR_RETURN(const auto width, core::read_size(config, "head_dim", 1, kHiddenSizeMax, name));
  if (!width) LB_RETURN_IF_ERROR(check_heads(sizes, file, "hidden_size", "num_attention_heads"));
  sizes.head_width = width.value_or(sizes.hidden / sizes.heads);
  if (sizes.heads % sizes.key_heads != 0) {
    return invalid_file(file, fmt::format("'num_attention_heads' {} is not a multiple of 'num_key_value_heads' {}",
                                          sizes.heads, sizes.key_heads));
  }
  sizes.norm = NormKind::kRms;
  sizes.epsilon = 1e-5F;
  LB_RETURN_IF_ERROR(read_epsilon(config, "norm_eps", file, sizes.epsilon));
  sizes.activation = graph::ActivationFunction::kSilu;
  LB_ASSIGN_OR_RETURN(lfm.convolution_bias, core::read_bool(config, "conv_bias", false, name));
  LB_RETURN_IF_ERROR(read_layers(config, file, lfm));
  LB_ASSIGN_OR_RETURN(lfm.rotary, read_rotary(config, file, rotary_heads_of(sizes), 1000000));
  return std::shared_ptr<const Network>(std::make_shared<const LfmNetwork>(std::move(lfm)));
}

}  // namespace latebind::embedding
