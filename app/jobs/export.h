// Exports the graph that Latebind builds as an ONNX file for other tools.
#pragma once

#include <string>

#include "app/client.h"
#include "app/jobs/placed.h"

namespace latebind::app {

struct ExportOptions {
  std::string model;  // a folder, or a name on the hub
  std::string output;
  bool hidden_states = false;  // token vectors instead of the text's vector
};

// Writes the file, which appears only once it is complete. Fails with kInvalidArgument for an invalid output, and with
// the errors of finding, reading and writing.
[[nodiscard]] Placed export_onnx(const ExportOptions& options, const Client& client);

}  // namespace latebind::app
