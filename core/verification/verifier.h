// Verifier: compares every device that loads a model with another device, if the placement is to be verified.
//
// Two devices that disagree do not show which of them is wrong. The device that was to be used is refused, and from
// then on the other one counts as right for this model. Verdicts are kept in the compile cache, so that the next start
// reads them. All functions may be called from any thread.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/backend/backend.h"
#include "core/cache/compile_cache.h"
#include "core/failover/placed_model.h"
#include "core/model/model.h"
#include "core/result.h"
#include "core/threads/mutex.h"
#include "core/verification/kept_verdict.h"
#include "core/verification/verification.h"

namespace latebind::core {

// The devices that disagreed, for the models that were refused last. Loads that should know of each other share one
// object. All functions may be called from any thread.
class Disagreements {
 public:
  // The number of models that are remembered. Beyond it the oldest is forgotten, and compared again.
  static constexpr std::size_t kModelsMax = 256;

  void add(const std::string& model, const std::string& refused, const std::string& reference);
  [[nodiscard]] bool is_refused(const std::string& model, const std::string& device) const;
  [[nodiscard]] bool is_reference(const std::string& model, const std::string& device) const;

 private:
  struct Sides {
    std::string model;
    std::set<std::string, std::less<>> refused{};
    std::set<std::string, std::less<>> references{};
  };
  [[nodiscard]] const Sides* find(const std::string& model) const LB_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::deque<Sides> models_ LB_GUARDED_BY(mutex_);
};

struct VerificationOptions {
  bool enabled = false;
  // The device to compare with, "onnxruntime:CPU". If empty, the first other CPU that takes the model, in f32: devices
  // that run only graphs come first, then the registry's order.
  std::string against{};
  MakeSamples samples{};  // empty: random_samples()
  // Identifies the samples in the key of a verdict; change it when the samples change.
  std::string samples_name = "random 1";
  std::shared_ptr<Disagreements> disagreements{};  // null: used by one load only
};

// Returns the devices that `device` (an id) may be compared with, in the order of VerificationOptions::against.
// kDeviceNotFound when the requested device is not present, kNoDevice when there is no other CPU; the message lists
// what is missing. If `missing` is given, it receives the backends that are not available, and why, on success as well.
[[nodiscard]] Result<std::vector<Device>> reference_devices(std::span<const std::shared_ptr<Backend>> backends,
                                                            const std::string& device, const std::string& against,
                                                            std::string* missing = nullptr);
// Returns kNoDevice: why there is nothing to compare with, from the reason of each such device.
[[nodiscard]] Status no_reference_error(const std::string& device, const std::string& reasons);

class Verifier {
 public:
  // How the placement loads.
  struct Setup {
    VerificationOptions verification{};
    CompileOptions compile{};
    FailoverOptions failover{};
    std::shared_ptr<CompileCache> cache{};  // may be null
    bool strict = false;
  };
  Verifier(std::vector<std::shared_ptr<Backend>> backends, Model model, Setup setup);

  // Compares the device with a reference and notes the outcome in the executable (Executable::verification()).
  // kUnsupported when they disagree, kDeviceFailed when the device fails on a sample that the reference computed. If
  // there is nothing to compare with, the result is kNoDevice for strict loading, otherwise a warning in the log.
  [[nodiscard]] Status verify(const Device& device, const CompileOptions& compile, Executable& executable);

 private:
  [[nodiscard]] Result<std::unique_ptr<Executable>> load(const Device& reference) const;
  [[nodiscard]] Result<Comparison> compare_with(const Device& reference, const Device& device,
                                                Executable& executable) const;

  const std::vector<std::shared_ptr<Backend>> backends_;
  const Model model_;
  const std::string model_key_;
  const Setup setup_;
  const CompileOptions reference_options_;
  const std::shared_ptr<Disagreements> disagreements_;
  const bool settled_;  // the model was not written just now
};

}  // namespace latebind::core
