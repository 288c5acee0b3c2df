// Placement: the ordered list of devices to try, and why each one was taken or rejected. A value; parsed placements are
// immutable and may be used from any thread.
//
// A placement is written as words separated by commas: `auto`, `npu`, `npu,cpu`, `openvino`,
// `openvino:NPU.4000,onnxruntime:CPU`.
//   auto             NPU, then GPU, then CPU, of every backend; within a kind, preferred devices come first, then
//                    registry order decides
//   npu, gpu, cpu    devices of that kind, of every backend
//   BACKEND          all devices of that backend, best kind first
//   BACKEND:DEVICE   exactly that device
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend/device.h"
#include "core/backend/executable.h"
#include "core/backend/registry.h"
#include "core/result.h"

namespace latebind::core {

// The outcome for one device, or for a backend that could not offer any.
struct PlacementStep {
  std::string device;  // "openvino:CPU", or just "openvino" when the backend is not available
  bool taken = false;
  // Why it was rejected, in one line. For the device that was taken: the blobs that came with the model but could not
  // be used, and why; otherwise empty.
  std::string reason;
  std::string brief{};    // why it was rejected, in a short line
  std::string details{};  // Status::details()

  static PlacementStep refused(std::string device, const Status& why) {
    return {std::move(device), false, why.to_string(), why.brief(), std::string(why.details())};
  }
  static PlacementStep taken_by(std::string device) { return {std::move(device), true, {}, {}, {}}; }
};

class Placement {
 public:
  // Parses a placement. Unknown words are an error that lists the known ones; backends are checked against `registry`.
  static Result<Placement> parse(std::string_view text, const Registry& registry);

  [[nodiscard]] const std::string& text() const { return text_; }

  // A device to try, or the reason why this place in the order has no device.
  struct Candidate {
    std::optional<Device> device;
    PlacementStep refusal;  // when there is no device
  };
  // Whether a device comes before others of its kind.
  using Preference = std::function<bool(const Device&)>;
  // The preference for a model that every device knows.
  [[nodiscard]] static Preference in(Precision precision) {
    return [precision](const Device& device) { return device.traits.is_preferred_in(precision); };
  }
  // Asks the backends concerned for their present devices. Returns the candidates best first, each device and each
  // refusal once. Virtual devices are left out, unless one is named exactly, can be emulated and `emulate` is set. A
  // backend that is not available comes before the devices of backends registered after it, because taking one of those
  // is a fallback. However, a backend whose library is missing and not expected (BackendDiagnosis::library_is_expected)
  // comes after devices that need no library.
  [[nodiscard]] std::vector<Candidate> resolve(const Registry& registry, bool emulate = false,
                                               const Preference& prefers = in(Precision::kF32)) const;
  // Like resolve() above, for callers with a time limit: a backend may open its vendor's library, start it and ask
  // drivers. A backend that takes longer than limits.run_timeout is skipped, and that is its reason. kCancelled,
  // kDeadlineExceeded or kBusy when the caller's own time is up.
  [[nodiscard]] Result<std::vector<Candidate>> resolve(const Registry& registry, bool emulate, const RunOptions& limits,
                                                       const Preference& prefers) const;

 private:
  struct Term {
    std::string backend;  // empty: any
    std::string device;   // empty: any
    bool any_kind = true;
    DeviceKind kind = DeviceKind::kOther;
  };
  std::string text_;
  std::vector<Term> terms_;
};

}  // namespace latebind::core
