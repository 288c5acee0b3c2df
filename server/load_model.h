// Loads a model to be served: found by folder, bundle, file or name on the hub, placed, and warm.
#pragma once

#include <memory>
#include <string>

#include "app/client.h"
#include "app/runtime.h"
#include "core/result.h"
#include "server/service.h"

namespace latebind::server {

// "NAME=MODEL", or a MODEL whose served name is its folder's or file's.
struct ModelArgument {
  std::string name;
  std::string model;

  // kInvalidArgument where either is empty.
  static core::Result<ModelArgument> parse(const std::string& text);
};

// Everything that a first request would otherwise wait for is done. With `token_vectors` a model of texts also gives
// the vectors of their tokens, with an executable of its own. Batches are counted in `metrics`. `runtime` and `metrics`
// must outlive the model.
[[nodiscard]] core::Result<std::shared_ptr<const ServedModel>> load_model(const ModelArgument& argument,
                                                                          const app::Runtime& runtime,
                                                                          const app::Client& client, Metrics& metrics,
                                                                          bool token_vectors);

}  // namespace latebind::server
