// Attestation: who answers, and why it is not somebody better. Immutable once it is shared.
#pragma once

#include <string>
#include <vector>

#include "core/executable.h"
#include "core/placement.h"

namespace latebind::core {

struct Attestation {
  ActiveConfig active;
  // True when something that the placement preferred was there or asked for and could not be used.
  bool fallback = false;
  // One short line for people when fallback, else empty: "using onnxruntime:CPU, because openvino: …". The steps have
  // the evidence.
  std::string reason;
  // Every device and backend considered, in order, the one taken last.
  std::vector<PlacementStep> steps;

  // `steps` holds what was passed over: makes the whole story of it, that of `taken` being the one that answers.
  void conclude(const std::string& taken);
};

// "a: why; b: why", with all the evidence.
[[nodiscard]] std::string listed(const std::vector<PlacementStep>& steps);
// The same in short.
[[nodiscard]] std::string listed_briefly(const std::vector<PlacementStep>& steps);

}  // namespace latebind::core
