// Verifier: compares every device that loads a model with another one, where the placement is to be verified.
//
// Two devices that disagree do not say which of them is wrong: the one that was to be used is refused, and the other
// one counts as right from then on, for this model. Verdicts are kept in the compile cache, so that the next start
// reads them. Thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/backend.h"
#include "core/compile_cache.h"
#include "core/kept_verdict.h"
#include "core/model.h"
#include "core/placed_model.h"
#include "core/result.h"
#include "core/verification.h"

namespace latebind::core {

// Which devices disagreed with which, of the models that were refused last: to be shared by loads that know of each
// other. Thread-safe.
class Disagreements {
 public:
  // As many models are known at once; the one that came first is forgotten, and compared again.
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
  [[nodiscard]] const Sides* find(const std::string& model) const;  // with the mutex held

  mutable std::mutex mutex_;
  std::deque<Sides> models_;  // guarded by mutex_
};

struct VerificationOptions {
  bool enabled = false;
  // The device to compare with, "onnxruntime:CPU"; empty: the first other CPU that takes the model, in f32. Those that
  // run graphs alone come first, then the registry's order.
  std::string against{};
  MakeSamples samples{};  // empty: random_samples()
  // What the samples are, in the key of a verdict: it changes with them.
  std::string samples_name = "random 1";
  std::shared_ptr<Disagreements> disagreements{};  // null: of one load alone
};

// The devices that `device` (its id) may be compared with, in the order of VerificationOptions::against.
// kDeviceNotFound when the one that was asked for is not here, kNoDevice when no other CPU is; the message lists what
// is missing. `missing`, when given, receives which backends are not there, and why, also where others are.
[[nodiscard]] Result<std::vector<Device>> reference_devices(std::span<const std::shared_ptr<Backend>> backends,
                                                            const std::string& device, const std::string& against,
                                                            std::string* missing = nullptr);
// Why nothing can be compared, from what each of those said: kNoDevice.
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

  // Says in the executable what came of it (Executable::verification()). kUnsupported when it disagrees, kDeviceFailed
  // when it fails where the reference did not. When there is nothing to compare with, strict loading makes that an
  // error, kNoDevice; else it is a warning in the log.
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
