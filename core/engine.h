// Engine: from a placement and a model to an executable on the first device that works, with the reasons for the
// others.
//
// Thread-safe. The registry must outlive the engine; executables may outlive both.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/executable.h"
#include "core/model.h"
#include "core/placement.h"
#include "core/registry.h"
#include "core/result.h"

namespace latebind::core {

struct LoadOptions {
  CompileOptions compile{};
  // Turns every fallback into the error kStrictFallback.
  bool strict = false;
};

// Who answers, and why it is not somebody better. Immutable.
struct Attestation {
  ActiveConfig active;
  // True when something that the placement preferred was there or asked for and could not be used.
  bool fallback = false;
  // One line for people when fallback, else empty: "openvino is not available (…), using onnxruntime:CPU".
  std::string reason;
  // Every device and backend considered, in order, the one taken last.
  std::vector<PlacementStep> steps;
};

// A model that the engine placed.
class PlacedModel {
 public:
  PlacedModel(std::unique_ptr<Executable> executable, std::shared_ptr<const Attestation> attestation);

  [[nodiscard]] std::span<const TensorInfo> inputs() const { return executable_->inputs(); }
  [[nodiscard]] std::span<const TensorInfo> outputs() const { return executable_->outputs(); }
  // Who would answer now.
  [[nodiscard]] std::shared_ptr<const Attestation> attestation() const { return attestation_; }
  [[nodiscard]] Status execute(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                               const RunOptions& options = {});

 private:
  std::unique_ptr<Executable> executable_;
  std::shared_ptr<const Attestation> attestation_;
};

// What `latebind devices` shows of one backend.
struct BackendReport {
  std::string name;
  Status status;                // why it is not available
  std::string runtime_version;  // when available
  std::vector<Device> devices;
};

class Engine {
 public:
  explicit Engine(const Registry& registry) : registry_(registry) {}

  // kNoDevice when nothing could take the model: the text lists every device with its reason and, where a backend is
  // missing, what to type. A model that every device calls invalid gives kInvalidModel.
  [[nodiscard]] Result<std::shared_ptr<PlacedModel>> load(const Model& model, const Placement& placement,
                                                          const LoadOptions& options) const;

  [[nodiscard]] std::vector<BackendReport> report() const;
  [[nodiscard]] const Registry& registry() const { return registry_; }

 private:
  const Registry& registry_;
};

}  // namespace latebind::core
