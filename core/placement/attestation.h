// Attestation: which device answers, and why a preferred device does not. A value; immutable once it is shared.
#pragma once

#include <string>
#include <vector>

#include "core/backend/executable.h"
#include "core/placement/placement.h"

namespace latebind::core {

struct Attestation {
  ActiveConfig active;
  // True when a device that the placement preferred was present or requested but could not be used.
  bool fallback = false;
  // When `fallback`, one short line for people: "using onnxruntime:CPU, because openvino: …"; otherwise empty. The
  // steps have the details.
  std::string reason;
  // The outcome of comparing the device with another one, if the placement is verified: "agrees with native:CPU: …",
  // "not verified: …". Otherwise empty.
  std::string verification;
  // Every device and backend that was considered, in order. The one that was taken comes last.
  std::vector<PlacementStep> steps;

  // Completes the attestation. `steps` holds what was skipped so far. `taken` is the device that answers, and
  // `passed_over` becomes the reason of its step (Executable::passed_over()).
  void conclude(const std::string& taken, std::string passed_over);
};

// Returns the reasons of all steps in one line: "a: why; b: why".
[[nodiscard]] std::string listed(const std::vector<PlacementStep>& steps);
// Like listed(), with the short reasons (PlacementStep::brief).
[[nodiscard]] std::string listed_briefly(const std::vector<PlacementStep>& steps);
// Returns the details of all steps. Each line begins with its device: "a: this place: no such file".
[[nodiscard]] std::string details_of(const std::vector<PlacementStep>& steps);

}  // namespace latebind::core
