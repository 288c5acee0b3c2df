// Places the network of a specification: builds or finds the model, and loads it. Any thread may call it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/engine/engine.h"
#include "core/result.h"
#include "embedding/build_model.h"
#include "embedding/forward.h"

namespace latebind::embedding {

struct PlacedNetwork {
  std::shared_ptr<core::PlacedModel> model;
  std::vector<BoundOutput> outputs{};  // the outputs of the graph
  bool may_be_unattended = false;      // see GraphModel
};

// Builds, places and loads the network. The static lengths in `load` are cut at `max_tokens`, which is added; the
// default lengths are 32, 64, 128, 256 and 512. Verification compares the devices' results for texts. Returns the first
// error of these steps.
[[nodiscard]] core::Result<PlacedNetwork> place_network(const core::Engine& engine, const Specification& model,
                                                        const core::Placement& placement, core::LoadOptions load,
                                                        std::size_t max_tokens, const GraphOptions& options = {});

}  // namespace latebind::embedding
