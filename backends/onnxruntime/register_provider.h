// Registers plugin execution providers with ONNX Runtime.
//
// Registering changes the process's only environment, so that one registration runs at a time. Any thread.
#pragma once

#include <string>
#include <vector>

#include "backends/onnxruntime/environment.h"
#include "backends/onnxruntime/plugin_device.h"
#include "core/result.h"

namespace latebind::onnxruntime {

// Registers one library under its name unless it is registered, and returns its devices. Runs in this process: either
// in the child process of a trial, or after the provider has passed its trial.
[[nodiscard]] core::Result<std::vector<PluginDevice>> register_provider(const Environment& environment,
                                                                        const std::string& file);

// The name under which a library is registered: for known providers their own name, since some of them take the
// registered name as theirs; otherwise a name derived from the file.
[[nodiscard]] std::string registration_name(const std::string& file);

}  // namespace latebind::onnxruntime
