// Verifies a device against another one: runs the same inputs on both and compares the outputs.
#pragma once

#include <string>
#include <vector>

#include "app/client.h"
#include "app/json_text.h"
#include "app/run_inputs.h"
#include "app/runtime.h"
#include "core/placement/attestation.h"
#include "core/result.h"
#include "core/verification/verification.h"

namespace latebind::app {

struct VerifyOptions {
  std::string model;  // a folder, a bundle, a name on the hub, an ONNX file or an OpenVINO IR
  // "onnxruntime:CPU". Empty: the setting, otherwise the first other CPU that accepts the model.
  std::string against;
  RequestedInputs inputs{};  // replace the generated samples unless empty
};

struct VerifyReport {
  core::Attestation tested;
  core::Attestation reference;
  core::Comparison comparison;

  [[nodiscard]] bool agrees() const { return comparison.agrees(); }
};

// Tests the first device of the placement that loads the model. Returns kNoDevice, with every other device's reason, if
// there is nothing to compare with; otherwise the errors of find_model(), of loading, of the inputs (kInvalidArgument)
// and of core::compare(). Disagreement is not an error.
[[nodiscard]] core::Result<VerifyReport> verify(const VerifyOptions& options, const Runtime& runtime,
                                                const Client& client);

// As `latebind verify --help` says.
[[nodiscard]] Json to_json(const VerifyReport& report);

}  // namespace latebind::app
