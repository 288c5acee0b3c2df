// Engine: from a placement and a model to an executable on the first device that works, with the reasons for the
// others.
//
// Thread-safe. The registry must outlive the engine; executables may outlive both.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/attestation.h"
#include "core/compile_cache.h"
#include "core/executable.h"
#include "core/model.h"
#include "core/placed_model.h"
#include "core/placement.h"
#include "core/registry.h"
#include "core/result.h"
#include "core/shape_mode.h"
#include "core/static_lengths.h"
#include "core/verifier.h"

namespace latebind::core {

struct LoadOptions {
  CompileOptions compile{};
  // Tried in order on a device that cannot take the model in compile.precision.
  std::vector<Precision> other_precisions{};
  // Makes every fallback an error: kStrictFallback when loading, the device's own error later.
  bool strict = false;
  FailoverOptions failover{};
  // These end the loading, not what is loaded.
  std::optional<std::chrono::steady_clock::time_point> deadline{};
  Cancellation cancellation{};
  // For models whose inputs are all [rows, length]: kAutoShapes means static ones on NPUs. Without lengths or inputs in
  // `static_lengths`, shapes are as the model declares them, everywhere; but where a bundle has blobs of a model whose
  // inputs may be padded, their lengths are used as if they had been given.
  ShapeMode shapes = ShapeMode::kAutoShapes;
  StaticLengthOptions static_lengths{};
  // Whether every device is compared with another one before it is used.
  VerificationOptions verification{};
  // Where compiled models are kept; null: nowhere. Kept alive as long as a model may still load through it.
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

// What a device's place in the order depends on, of a model.
struct ModelKind {
  bool has_graph = false;  // Model::graph()
  bool has_blobs = false;  // Model::blobs()

  static ModelKind of(const Model& model) { return {model.graph() != nullptr, model.blobs() != nullptr}; }
};
// Whether a device comes before others of its kind: it says so of the precision, and would not refuse such a model.
[[nodiscard]] Placement::Preference preference_for(const ModelKind& model, const LoadOptions& options);

class Engine {
 public:
  explicit Engine(const Registry& registry) : registry_(registry) {}

  // kNoDevice when no device could take the model: the message lists every device with its reason and, where a backend
  // is missing, what to type. A model that every device calls invalid is kInvalidModel.
  [[nodiscard]] Result<std::shared_ptr<PlacedModel>> load(const Model& model, const Placement& placement,
                                                          const LoadOptions& given) const;

  [[nodiscard]] std::vector<BackendReport> report() const;
  [[nodiscard]] const Registry& registry() const { return registry_; }

 private:
  const Registry& registry_;
};

}  // namespace latebind::core
