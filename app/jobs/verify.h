// Whether a device computes what another one does: the same inputs on both, and how far apart the outputs are.
#pragma once

#include <string>
#include <vector>

#include "app/client.h"
#include "app/json_text.h"
#include "app/run_inputs.h"
#include "app/runtime.h"
#include "core/attestation.h"
#include "core/result.h"
#include "core/verification.h"

namespace latebind::app {

struct VerifyOptions {
  std::string model;  // a folder, a bundle, a name on the hub, an ONNX file or an OpenVINO IR
  std::string
      against;  // "onnxruntime:CPU"; empty: what the settings say, else the first other CPU that takes the model
  InputWishes inputs{};  // when not empty, they are all that is run; else several samples are made up
};

struct VerifyReport {
  core::Attestation tested;
  core::Attestation reference;
  core::Comparison comparison;

  [[nodiscard]] bool agrees() const { return comparison.agrees(); }
};

// The device is the first of the placement that loads the model. kNoDevice when there is nothing to compare with, with
// what each other device said; else the errors of find_model() and of loading, kInvalidArgument of the inputs, and
// those of core::compare(). That devices disagree is no error.
[[nodiscard]] core::Result<VerifyReport> verify(const VerifyOptions& options, const Runtime& runtime,
                                                const Client& client);

// As `latebind verify --help` says.
[[nodiscard]] Json to_json(const VerifyReport& report);

}  // namespace latebind::app
