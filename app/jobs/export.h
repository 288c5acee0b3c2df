// The graph that Latebind builds, as an ONNX file for other tools.
#pragma once

#include <string>

#include "app/client.h"
#include "app/jobs/placed.h"

namespace latebind::app {

struct ExportOptions {
  std::string model;  // a folder, or a name on the hub
  std::string output;
  bool hidden_states = false;  // the vectors of all tokens instead of the text's
};

// The file appears only when it is complete. Failures: kInvalidArgument for an invalid place, and the errors of
// finding, reading and writing.
[[nodiscard]] Placed export_onnx(const ExportOptions& options, const Client& client);

}  // namespace latebind::app
