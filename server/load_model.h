// Loads a model to be served: placed, and warm.
#pragma once

#include <memory>

#include "app/runtime.h"
#include "core/result.h"
#include "server/found_model.h"
#include "server/service.h"

namespace latebind::server {

// Everything that a first request would otherwise wait for is done. With `token_vectors` a model of texts also gives
// the vectors of their tokens, with an executable of its own. Batches are counted in `metrics`. `runtime` and `metrics`
// must outlive the model.
[[nodiscard]] core::Result<std::shared_ptr<const ServedModel>> load_model(const FoundModel& found,
                                                                          const app::Runtime& runtime, Metrics& metrics,
                                                                          bool token_vectors);

}  // namespace latebind::server
