#include "embedding/place_network.h"

#include <utility>
#include <vector>

#include "core/log.h"
#include "embedding/text_samples.h"

namespace latebind::embedding {
namespace {

// Removes the lengths from the limit on and adds the limit, so that every text fits.
void cut_lengths(std::vector<std::size_t>& lengths, std::size_t limit) {
  if (lengths.empty()) lengths = {32, 64, 128, 256, 512};
  std::erase_if(lengths, [&](std::size_t length) { return length >= limit; });
  lengths.push_back(limit);
}

}  // namespace

core::Result<PlacedNetwork> place_network(const core::Engine& engine, const Specification& model,
                                          const core::Placement& placement, core::LoadOptions load,
                                          std::size_t max_tokens, const GraphOptions& options) {
  // Destroyed after loading: from then on the vendor has what it needs of the weights.
  LB_ASSIGN_OR_RETURN(const GraphModel graph, build_model(model, options));
  if (!graph.assumed.empty()) core::log(core::LogLevel::kWarning, graph.assumed);
  load.compile.shapes_recur = model.input.kind == &kPairInput;
  load.static_lengths.inputs = graph.inputs;
  cut_lengths(load.static_lengths.lengths, max_tokens);
  if (load.verification.enabled) {
    load.verification.samples = text_samples(model, max_tokens, graph.is_pooled());
    load.verification.samples_name = kTextSamples;
  }
  PlacedNetwork placed{.model = nullptr, .may_be_unattended = graph.may_be_unattended};
  for (std::size_t i = 0; i < graph.outputs.size(); ++i)
    placed.outputs.push_back({.output = graph.outputs[i], .end = graph.ends[i]});
  LB_ASSIGN_OR_RETURN(placed.model, engine.load(graph.model, placement, load));
  return placed;
}

}  // namespace latebind::embedding
