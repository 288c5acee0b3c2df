// Attestation: which device answers, and why not a preferred one. Immutable once it is shared.
#pragma once

#include <string>
#include <vector>

#include "core/executable.h"
#include "core/placement.h"

namespace latebind::core {

struct Attestation {
  ActiveConfig active;
  // True when a device that the placement preferred was present or requested but could not be used.
  bool fallback = false;
  // One short line for people when fallback, else empty: "using onnxruntime:CPU, because openvino: …". The details are
  // in the steps.
  std::string reason;
  // What came of comparing the device with another one, where the placement is verified: "agrees with native:CPU: …",
  // "not verified: …"; else empty.
  std::string verification;
  // Every device and backend considered, in order, the one taken last.
  std::vector<PlacementStep> steps;

  // `steps` holds what was skipped; completes it with `taken`, the device that answers, and its step's reason.
  void conclude(const std::string& taken, std::string passed_over);
};

// "a: why; b: why".
[[nodiscard]] std::string listed(const std::vector<PlacementStep>& steps);
// The same in short.
[[nodiscard]] std::string listed_briefly(const std::vector<PlacementStep>& steps);
// The details of all of them, each line with its device: "a: this place: no such file".
[[nodiscard]] std::string details_of(const std::vector<PlacementStep>& steps);

}  // namespace latebind::core
