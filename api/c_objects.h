// The objects that the handles of the C interface point to. A handle owns its object; `made` says which process created
// it (fork).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "app/backends.h"
#include "app/runtime.h"
#include "app/settings.h"
#include "core/backend/executable.h"
#include "core/backend/registry.h"
#include "core/engine/engine.h"
#include "core/platform/process_generation.h"
#include "embedding/embedder.h"
#include "embedding/inputs/text_limits.h"
#include "embedding/router.h"
#include "include/latebind/latebind.h"

// Shared, so that models and encoders can outlive the handle.
struct lb_runtime {
  struct Shared {
    explicit Shared(latebind::app::EffectiveSettings given)
        : settings(std::move(given)),
          registry(latebind::app::make_registry(settings.of_backends())),
          engine(registry) {}
    latebind::app::EffectiveSettings settings;  // defaults for every model that is loaded
    latebind::core::Registry registry;
    latebind::core::Engine engine;
    latebind::platform::MadeIn made{};
  };
  std::shared_ptr<const Shared> shared;
};

struct lb_options {
  latebind::app::EffectiveSettings settings;
};

struct lb_output {
  latebind::core::OutputTensor tensor;
};

struct lb_attestation {
  std::shared_ptr<const latebind::core::Attestation> attestation;
  std::size_t hung_runs = 0;  // at the time of the snapshot; 0 in the attestation of one call
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

struct lb_encoder {
  std::shared_ptr<const lb_runtime::Shared> runtime;
  std::shared_ptr<const latebind::embedding::Embedder> model;
  latebind::platform::MadeIn made{};
};

// Needs no thread, so it remains valid after fork().
struct lb_tokenizer {
  struct Route {
    std::shared_ptr<const latebind::embedding::Tokenizer> tokenizer;
    latebind::embedding::TextLimits limits{};
    latebind::embedding::Prompts prompts{};
  };
  std::string model;  // its name, for messages
  latebind::embedding::Router<Route> routes;
};

namespace latebind::api {

// The runtime's options overridden by `options`, which may be null. kInvalidArgument for keys that only a runtime
// accepts.
[[nodiscard]] core::Result<app::EffectiveSettings> settings_over(const lb_runtime& runtime, const lb_options* options);

// The options of one call: its deadline, its cancellation, and where to store the attestation (may be null).
struct Call {
  core::RunOptions limits;
  lb_attestation** answered_by = nullptr;
};
// `given` may be null. The time limit counts from now.
[[nodiscard]] core::Result<Call> read_call(const lb_call_options* given);

// How to load a model: the runtime's options overridden by `options`, which may be null, within the limits of the call.
[[nodiscard]] core::Result<app::LoadRequest> load_request(const lb_runtime& runtime, const lb_options* options,
                                                          const Call& call);

// Limits a duration to one year, since longer ones would overflow the clock.
[[nodiscard]] std::chrono::milliseconds bounded_milliseconds(std::uint64_t given);

[[nodiscard]] core::Status give_attestation(std::shared_ptr<const core::Attestation> attestation, lb_attestation** out,
                                            std::size_t hung_runs = 0);

}  // namespace latebind::api
