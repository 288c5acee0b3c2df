#include "embedding/architectures/layer_kinds.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "core/json/read.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "embedding/architectures/rotary.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Json;
using core::printable;
using core::Result;
using core::Status;
using std::filesystem::path;

namespace {

Status read_local_layers(const Json& config, const path& file, std::size_t layers, const OldLayerKeys& old,
                         std::vector<bool>& is_local) {
  LB_ASSIGN_OR_RETURN(auto types, read_layer_types(config, file, layers));
  if (types) {
    is_local = *std::move(types);
    return {};
  }
  LB_ASSIGN_OR_RETURN(const auto given,
                      core::read_size(config, old.pattern, 1, kLayersMax, platform::path_to_utf8(file)));
  const std::size_t every = given.value_or(old.pattern_otherwise);
  for (std::size_t i = 0; i < layers; ++i)
    is_local.push_back(i % every != (old.is_first_global ? 0 : every - 1));
  return {};
}

// Reads the object of one kind of layer, including what `rope_scaling` adds.
Result<graph::Rotary> read_kind(const Json& config, const path& file, const char* kind, const RotaryHeads& heads,
                                double base, bool is_scaled) {
  const Json all = config.value("rope_parameters", Json::object());
  Json parameters = all.is_null() ? Json() : all.value(kind, Json());
  std::string name = kind;
  const auto* const scaling = core::find_member(config, "rope_scaling");
  if (is_scaled && scaling != nullptr && scaling->is_object()) {
    if (parameters.is_null()) parameters = Json::object();
    if (parameters.is_object()) parameters.update(*scaling);
    name = "rope_scaling";
  }
  if (parameters.is_null()) return plain_rotary(file, heads, base);
  return read_rope_parameters(parameters, file, name, heads, base);
}

}  // namespace

Result<std::optional<std::vector<bool>>> read_layer_types(const Json& config, const path& file, std::size_t layers) {
  using Types = std::optional<std::vector<bool>>;
  const auto* const types = core::find_member(config, "layer_types");
  if (types == nullptr) return Types();
  if (!types->is_array() || types->size() != layers)
    return invalid_file(file, fmt::format("'layer_types' is not a list of {} layers", layers));
  constexpr std::array<std::string_view, 2> kKinds{"full_attention", "sliding_attention"};
  std::vector<bool> is_local;
  for (const Json& type : *types) {
    if (type != kKinds[0] && type != kKinds[1]) {
      return unsupported_file(file, fmt::format("'layer_types' has {}{}", core::printable_json(type),
                                                core::supported_instead(core::printable_json(type), kKinds)));
    }
    is_local.push_back(type == kKinds[1]);
  }
  return Types(std::move(is_local));
}

AttentionTerms LayerKinds::terms_of(std::size_t layer) const {
  AttentionTerms terms;
  terms.rotary = is_local[layer] ? local_rotary : rotary;
  if (is_local[layer]) terms.window = static_cast<std::int64_t>(window);
  return terms;
}

Status read_layer_kinds(const Json& config, const path& file, const EncoderSizes& sizes, const OldLayerKeys& old,
                        LayerKinds& kinds) {
  LB_RETURN_IF_ERROR(read_local_layers(config, file, sizes.layers, old, kinds.is_local));
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    const auto* const found = core::find_member(config, key);
    if (found != nullptr && !found->is_object()) return invalid_file(file, fmt::format("'{}' is not an object", key));
  }
  const auto* const parameters = core::find_member(config, "rope_parameters");
  if (parameters != nullptr && parameters->is_object()) {
    for (const auto& [key, value] : parameters->members()) {
      if (key != "full_attention" && key != "sliding_attention")
        return unsupported_file(file, fmt::format("'rope_parameters' has '{}'", printable(key)));
    }
  }
  constexpr double kLocalBase = 10000;
  LB_ASSIGN_OR_RETURN(const double base, read_rotary_base(config, old.base, old.base_otherwise, file));
  LB_ASSIGN_OR_RETURN(const double local_base, read_rotary_base(config, old.local_base, kLocalBase, file));
  const RotaryHeads heads = rotary_heads_of(sizes);
  LB_ASSIGN_OR_RETURN(kinds.rotary, read_kind(config, file, "full_attention", heads, base, true));
  LB_ASSIGN_OR_RETURN(kinds.local_rotary,
                      read_kind(config, file, "sliding_attention", heads, local_base, old.scales_local));
  return {};
}

}  // namespace latebind::embedding
