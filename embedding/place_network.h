// Places the network of a model folder: builds or finds the model, and loads it. Internal to what opens embedders, and
// for those who want the network alone.
#pragma once

#include <cstddef>
#include <memory>

#include "core/engine.h"
#include "core/result.h"
#include "embedding/model_folder.h"

namespace latebind::embedding {

struct PlacedNetwork {
  std::shared_ptr<core::PlacedModel> model;
  // Of its output: one vector a text, instead of one a token; the vector's length; the output's position.
  bool pooled = false;
  std::size_t dimension = 0;
  std::size_t output = 0;
  bool may_be_unattended = false;  // see GraphModel
};

// `load`: its static lengths are cut at `max_tokens`, which is added; without any they are 32, 64, 128, 256 and 512.
// Where it is verified, that is done with texts. With `token_vectors` the output is not pooled.
[[nodiscard]] core::Result<PlacedNetwork> place_network(const core::Engine& engine, const ModelFolder& folder,
                                                        const core::Placement& placement, core::LoadOptions load,
                                                        std::size_t max_tokens, bool token_vectors);

}  // namespace latebind::embedding
