#include "embedding/place_network.h"

#include <utility>
#include <vector>

#include "core/log.h"
#include "embedding/build_model.h"
#include "embedding/text_samples.h"

namespace latebind::embedding {
namespace {

// Lengths up to the limit, and the limit itself, so that no text is too long.
void cut_lengths(std::vector<std::size_t>& lengths, std::size_t limit) {
  if (lengths.empty()) lengths = {32, 64, 128, 256, 512};
  std::erase_if(lengths, [&](std::size_t length) { return length >= limit; });
  lengths.push_back(limit);
}

}  // namespace

core::Result<PlacedNetwork> place_network(const core::Engine& engine, const ModelFolder& folder,
                                          const core::Placement& placement, core::LoadOptions load,
                                          std::size_t max_tokens, bool token_vectors) {
  // Gone once it is loaded: from here on the vendor has what it needs of the weights.
  LB_ASSIGN_OR_RETURN(const GraphModel graph, build_model(folder, {.hidden_states = token_vectors}));
  if (!graph.assumed.empty()) core::log(core::LogLevel::kWarning, graph.assumed);
  load.compile.shapes_recur = folder.kind == EncoderKind::kCrossEncoder;
  load.static_lengths.inputs = graph.inputs;
  cut_lengths(load.static_lengths.lengths, max_tokens);
  if (load.verification.enabled) {
    load.verification.samples = text_samples(folder, max_tokens, graph.pooled);
    load.verification.samples_name = kTextSamples;
  }
  LB_ASSIGN_OR_RETURN(auto placed, engine.load(graph.model, placement, load));
  return PlacedNetwork{std::move(placed), graph.pooled, graph.dimension, graph.output, graph.may_be_unattended};
}

}  // namespace latebind::embedding
