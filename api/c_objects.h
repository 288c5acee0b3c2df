// The objects behind the handles of the C interface.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/engine.h"
#include "core/platform/process_generation.h"
#include "core/registry.h"
#include "embedding/embedder.h"
#include "include/latebind/latebind.h"

// Shared, so that models and embedders may outlive the handle.
struct lb_runtime {
  struct Shared {
    explicit Shared(latebind::core::Registry given) : registry(std::move(given)), engine(registry) {}
    latebind::core::Registry registry;
    latebind::core::Engine engine;
    latebind::platform::MadeIn made{};
  };
  std::shared_ptr<const Shared> shared;
};

struct lb_output {
  latebind::core::OutputTensor tensor;
};

struct lb_attestation {
  std::shared_ptr<const latebind::core::Attestation> attestation;
  std::size_t hung_runs = 0;  // when it was asked for; 0 for one answer
};

struct lb_cancellation {
  latebind::core::Cancellation cancellation = latebind::core::Cancellation::create();
  latebind::platform::MadeIn made{};
};

struct lb_model {
  std::shared_ptr<const lb_runtime::Shared> runtime;
  std::shared_ptr<latebind::core::PlacedModel> placed;
  latebind::platform::MadeIn made{};
};

struct lb_embedder {
  std::shared_ptr<const lb_runtime::Shared> runtime;
  std::unique_ptr<latebind::embedding::Embedder> embedder;
  latebind::platform::MadeIn made{};
};

namespace latebind::api {

// The caller's words become typed options here; unknown ones are refused with the known ones.
struct TypedLoadOptions {
  core::Placement placement;
  core::LoadOptions load;
  bool precision_given = false;  // by the caller or his configuration file; else `load` has the default
};
[[nodiscard]] core::Result<TypedLoadOptions> typed(const lb_load_options* options, const core::Registry& registry);

// What the options name, which may be nobody's word.
[[nodiscard]] core::Result<core::Cancellation> cancellation_of(const lb_cancellation* given);

[[nodiscard]] core::Status give_attestation(std::shared_ptr<const core::Attestation> attestation, lb_attestation** out,
                                            std::size_t hung_runs = 0);

}  // namespace latebind::api
