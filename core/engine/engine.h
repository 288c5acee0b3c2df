// Engine: loads a model on the first device of a placement that works, and keeps the reasons for the devices before it.
//
// All functions may be called from any thread. The registry must outlive the engine. Loaded models may outlive both.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/backend/executable.h"
#include "core/backend/registry.h"
#include "core/cache/compile_cache.h"
#include "core/engine/shape_mode.h"
#include "core/engine/static_lengths.h"
#include "core/failover/placed_model.h"
#include "core/model/model.h"
#include "core/placement/attestation.h"
#include "core/placement/placement.h"
#include "core/result.h"
#include "core/verification/verifier.h"

namespace latebind::core {

struct LoadOptions {
  CompileOptions compile{};
  // Precisions to try in order on a device that cannot take the model in compile.precision.
  std::vector<Precision> other_precisions{};
  // Makes every fallback an error: kStrictFallback when loading, the device's own error later.
  bool strict = false;
  FailoverOptions failover{};
  // Limits of the loading; they do not affect the loaded model.
  std::optional<std::chrono::steady_clock::time_point> deadline{};
  Cancellation cancellation{};
  // For models whose inputs are all [rows, length]. kAutoShapes selects static shapes on NPUs. If `static_lengths` has
  // no lengths or no inputs, every device uses the shapes that the model declares, with one exception: if a bundle has
  // blobs of a model whose inputs may be padded, the lengths of those blobs are used.
  ShapeMode shapes = ShapeMode::kAutoShapes;
  StaticLengthOptions static_lengths{};
  // Whether every device is compared with another one before it is used.
  VerificationOptions verification{};
  // Where compiled models are kept; null disables the cache. It stays alive as long as a model may still load through
  // it.
  std::shared_ptr<CompileCache> cache{};
};

// What `latebind devices` shows for one backend.
struct BackendReport {
  std::string name;
  Status status;                // why it is not available
  std::string runtime_version;  // when available
  std::vector<Device> devices;
  std::string known_errors;  // Backend::known_errors()
  BackendDiagnosis diagnosis;
};

// The properties of a model that decide a device's place in the order.
struct ModelKind {
  bool has_graph = false;  // Model::graph()
  bool has_blobs = false;  // Model::blobs()

  static ModelKind of(const Model& model) { return {model.graph() != nullptr, model.blobs() != nullptr}; }
};
// Returns a preference for devices that list the precision as preferred and would not refuse such a model. A preferred
// device comes before others of its kind.
[[nodiscard]] Placement::Preference preference_for(const ModelKind& model, const LoadOptions& options);

class Engine {
 public:
  explicit Engine(const Registry& registry) : registry_(registry) {}

  // Loads the model. Returns kNoDevice when no device could take it: the message lists every device with its reason
  // and, if a backend is missing, what to type. A model that every device calls invalid is kInvalidModel.
  [[nodiscard]] Result<std::shared_ptr<PlacedModel>> load(const Model& model, const Placement& placement,
                                                          const LoadOptions& given) const;

  // Queries every backend: whether it is available, its devices and its diagnosis. May open libraries and ask drivers.
  [[nodiscard]] std::vector<BackendReport> report() const;
  [[nodiscard]] const Registry& registry() const { return registry_; }

 private:
  const Registry& registry_;
};

}  // namespace latebind::core
