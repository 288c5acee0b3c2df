// Placement: the ordered list of devices to try, and why each one was taken or rejected.
//
// Written as words with commas: `auto`, `npu`, `npu,cpu`, `openvino`, `openvino:NPU.4000,onnxruntime:CPU`.
//   auto             NPU, then GPU, then CPU, of every backend; of one kind preferred ones first, then in the
//   registry's
//                    order
//   npu, gpu, cpu    devices of that kind, of every backend
//   BACKEND          all devices of that backend, best kind first
//   BACKEND:DEVICE   exactly that one
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.h"
#include "core/executable.h"
#include "core/registry.h"
#include "core/result.h"

namespace latebind::core {

// The outcome for one device, or for a backend that could not offer any.
struct PlacementStep {
  std::string device;  // "openvino:CPU", or just "openvino" when the backend is not available
  bool taken = false;
  // Why it was rejected, in one line. Of the one that was taken: what came compiled with the model for it and did not
  // do, and why; else empty.
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
  // Unknown words are an error that lists the known ones; backends are checked against `registry`.
  static Result<Placement> parse(std::string_view text, const Registry& registry);

  [[nodiscard]] const std::string& text() const { return text_; }

  // A device to try, or the reason why there is none at this place in the order.
  struct Candidate {
    std::optional<Device> device;
    PlacementStep refusal;  // when there is no device
  };
  // Whether a device comes before others of its kind.
  using Preference = std::function<bool(const Device&)>;
  // What a model that every device knows would prefer.
  [[nodiscard]] static Preference in(Precision precision) {
    return [precision](const Device& device) { return device.is_preferred_in(precision); };
  }
  // Asks the backends concerned for their present devices. Best first; each device and each refusal once. Virtual
  // devices are left out, unless one is named exactly, can be emulated and `emulate` is set. A backend that is not
  // available comes before the devices of the backends registered after it: taking one of those is a fallback. But one
  // whose library is not there, and that nobody expects, comes after devices that need none.
  [[nodiscard]] std::vector<Candidate> resolve(const Registry& registry, bool emulate = false,
                                               const Preference& prefers = in(Precision::kF32)) const;
  // The same for callers with a time limit, since a backend may open its vendor's library, start it and ask drivers.
  // One that takes longer than limits.run_timeout to answer is skipped, with that as the reason. kCancelled,
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
