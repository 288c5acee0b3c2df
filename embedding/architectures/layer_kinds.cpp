#include "embedding/architectures/layer_kinds.h"

#include <fmt/format.h>

#include "core/json_text.h"
#include "core/text/quote.h"
#include "embedding/refusals.h"

namespace latebind::embedding {

using core::printable;
using core::Status;
using nlohmann::json;
using std::filesystem::path;

namespace {

Status read_layer_types(const json& config, const path& file, std::size_t layers, const OldLayerKeys& old,
                        std::vector<bool>& is_local) {
  const auto types = config.find("layer_types");
  if (types == config.end() || types->is_null()) {
    LB_ASSIGN_OR_RETURN(const auto given,
                        core::read_size(config, old.pattern, 1, kLayersMax, platform::path_to_utf8(file)));
    const std::size_t every = given.value_or(old.pattern_otherwise);
    for (std::size_t i = 0; i < layers; ++i)
      is_local.push_back(i % every != (old.is_first_global ? 0 : every - 1));
    return {};
  }
  if (!types->is_array() || types->size() != layers)
    return invalid_file(file, fmt::format("'layer_types' is no list of {} layers", layers));
  for (const json& type : *types) {
    if (type != "full_attention" && type != "sliding_attention") {
      return unsupported_file(file, fmt::format("'layer_types' has {}; supported are full_attention and "
                                                "sliding_attention",
                                                core::printable_json(type)));
    }
    is_local.push_back(type == "sliding_attention");
  }
  return {};
}

}  // namespace

AttentionTerms LayerKinds::terms_of(std::size_t layer, std::size_t positions) const {
  AttentionTerms terms;
  terms.rotary =
      graph::Rotary{.base = is_local[layer] ? local_base : base, .positions = static_cast<std::int64_t>(positions)};
  if (is_local[layer]) terms.window = static_cast<std::int64_t>(window);
  return terms;
}

Status read_layer_kinds(const json& config, const path& file, std::size_t layers, const OldLayerKeys& old,
                        LayerKinds& kinds) {
  LB_RETURN_IF_ERROR(read_layer_types(config, file, layers, old, kinds.is_local));
  LB_RETURN_IF_ERROR(expect(config, file, "rope_scaling", nullptr));
  LB_ASSIGN_OR_RETURN(kinds.base, read_rotary_base(config, old.base, kinds.base, file));
  LB_ASSIGN_OR_RETURN(kinds.local_base, read_rotary_base(config, old.local_base, kinds.local_base, file));
  const auto parameters = config.find("rope_parameters");
  if (parameters == config.end() || parameters->is_null()) return {};
  if (!parameters->is_object()) return invalid_file(file, "'rope_parameters' is no object");
  for (const auto& [key, value] : parameters->items()) {
    if (key != "full_attention" && key != "sliding_attention")
      return unsupported_file(file, fmt::format("'rope_parameters' has '{}'", printable(key)));
  }
  LB_ASSIGN_OR_RETURN(kinds.base, read_rope_parameters(*parameters, "full_attention", kinds.base, file));
  LB_ASSIGN_OR_RETURN(kinds.local_base, read_rope_parameters(*parameters, "sliding_attention", kinds.local_base, file));
  return {};
}

}  // namespace latebind::embedding
