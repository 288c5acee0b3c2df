// Loads a model to be served, places it and warms it up.
#pragma once

#include <memory>

#include "app/runtime.h"
#include "core/result.h"
#include "server/found_model.h"
#include "server/service.h"

namespace latebind::server {

// Does everything that the first request would otherwise wait for. With `token_vectors`, a model that gives a
// vector for each text is opened for the outputs that accompany it, too: in the same encoder if that costs its passes
// little (Specification::shares_one_end()), else in a second one. Batches are counted in `metrics`. `runtime` and
// `metrics` must outlive the model.
[[nodiscard]] core::Result<std::shared_ptr<const ServedModel>> load_model(const FoundModel& found,
                                                                          const app::Runtime& runtime, Metrics& metrics,
                                                                          bool token_vectors);

}  // namespace latebind::server
