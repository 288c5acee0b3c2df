// The objects that the handles of the C interface point to. A handle owns its object; `made` says which process created
// it (fork).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "app/backends.h"
#include "app/runtime.h"
#include "app/settings.h"
#include "core/backend/executable.h"
#include "core/backend/registry.h"
#include "core/engine/engine.h"
#include "core/platform/process_generation.h"
#include "embedding/cross_encoder.h"
#include "embedding/embedder.h"
#include "embedding/inputs/text_limits.h"
#include "embedding/multi_vector_encoder.h"
#include "embedding/router.h"
#include "include/latebind/latebind.h"

// Shared, so that models and embedders can outlive the handle.
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

struct lb_embedder {
  std::shared_ptr<const lb_runtime::Shared> runtime;
  std::shared_ptr<const latebind::embedding::Embedder> embedder;
  latebind::platform::MadeIn made{};
  [[nodiscard]] const latebind::embedding::Embedder& network() const { return *embedder; }
};

struct lb_cross_encoder {
  std::shared_ptr<const lb_runtime::Shared> runtime;
  std::unique_ptr<const latebind::embedding::CrossEncoder> model;
  latebind::platform::MadeIn made{};
  [[nodiscard]] const latebind::embedding::Embedder& network() const { return model->network(); }
};

struct lb_sparse_encoder {
  std::shared_ptr<const lb_runtime::Shared> runtime;
  std::unique_ptr<const latebind::embedding::Embedder> model;
  latebind::platform::MadeIn made{};
  [[nodiscard]] const latebind::embedding::Embedder& network() const { return *model; }
};

struct lb_multi_vector_encoder {
  std::shared_ptr<const lb_runtime::Shared> runtime;
  std::unique_ptr<const latebind::embedding::MultiVectorEncoder> model;
  latebind::platform::MadeIn made{};
  [[nodiscard]] const latebind::embedding::Embedder& network() const { return model->network(); }
};

// lb_tokenizer, lb_sparse_list and lb_multi_vector_list need no thread, so they remain valid after fork().
struct lb_tokenizer {
  struct Route {
    std::shared_ptr<const latebind::embedding::Tokenizer> tokenizer;
    latebind::embedding::TextLimits limits{};
    latebind::embedding::Prompts prompts{};
  };
  std::string model;  // its name, for messages
  latebind::embedding::Router<Route> routes;
};

struct lb_sparse_list {
  std::vector<std::size_t> begins;
  std::vector<std::uint32_t> indices;
  std::vector<float> values;
};

struct lb_multi_vector_list {
  latebind::embedding::TokenVectors vectors;
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

struct TextCall {
  embedding::TextOptions texts;
  bool alone = false;
  std::uint32_t* token_counts = nullptr;
};
[[nodiscard]] core::Result<TextCall> read_embed_options(const lb_embed_options* given);

// The most texts in one call.
inline constexpr std::size_t kTextsMax = std::size_t{1} << 28;
// kInvalidArgument for more than kTextsMax texts, and for texts that are NULL although `count` is not 0.
[[nodiscard]] core::Status check_texts(const void* texts, std::size_t count, std::string_view what);

// kInvalidArgument for what check_texts() refuses, and for a text whose data is NULL, with its position. `what` is the
// function's name.
[[nodiscard]] core::Result<std::vector<std::string_view>> read_texts(const lb_text* texts, std::size_t count,
                                                                     std::string_view what);

// Writes the text to `view`. kInvalidArgument when its data is NULL although its size is not 0; the message names the
// function `what` and the `index`th `noun` ("text" or "pair").
[[nodiscard]] core::Status read_text(const lb_text& text, std::string_view noun, std::size_t index,
                                     std::string_view what, std::string_view& view);

// Opens a model for lb_…_open functions of every kind, within the limits of the call, and gives the call its
// attestation. The model must have this output.
[[nodiscard]] core::Result<std::unique_ptr<embedding::Embedder>> open_network(const lb_runtime& runtime,
                                                                              const char* model_folder,
                                                                              const lb_options* options,
                                                                              const lb_call_options* call,
                                                                              std::string_view output);

// Runs one call for `count` texts: calls compute(EmbedOptions) with the limits of `call`, then writes `stats`, which
// may be null, and the call's attestation.
using Compute = std::function<core::Result<embedding::EmbedStats>(const embedding::EmbedOptions&)>;
[[nodiscard]] core::Status compute_texts(const TextCall& asked, std::size_t count, const lb_call_options* call,
                                         lb_embed_stats* stats, const Compute& compute);

[[nodiscard]] core::Status write_stats(const embedding::EmbedStats& stats, lb_embed_stats* out);

[[nodiscard]] core::Status give_attestation(std::shared_ptr<const core::Attestation> attestation, lb_attestation** out,
                                            std::size_t hung_runs = 0);

}  // namespace latebind::api
