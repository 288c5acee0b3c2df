// Compiling for a plugin provider, in a child process.
//
// The vendor's compiler numbers its output throughout the life of a process, and the numbers affect the bytes: only the
// first compilation of a process is reproducible. So each compilation has its own process; a compiler that crashes,
// hangs or exhausts memory affects nothing else. Any thread.
#pragma once

#include <chrono>
#include <string>

#include "backends/onnxruntime/plugin_providers.h"
#include "backends/onnxruntime/provider_trial.h"
#include "backends/onnxruntime/session_options.h"
#include "backends/onnxruntime/targets.h"
#include "core/executable.h"
#include "core/model.h"
#include "core/result.h"

namespace latebind::onnxruntime {

// Large models take many minutes to compile.
inline constexpr std::chrono::minutes kCompileTimeMax{60};

// For the device of this name: a target, such as "QNN.v73", or one that the provider offers. `library`: the provider's.
// `left` becomes the nodes that are left to the CPU, also where that is an error. The errors of compile_context();
// kDeviceFailed when the child crashes or takes longer than kCompileTimeMax.
[[nodiscard]] core::Result<core::SharedBytes> compile_in_child(
    const TrialOptions& options, const std::string& runtime_file, const std::string& provider_file,
    const std::string& device, const core::Model& model, const core::CompileOptions& compile, core::LeftNodes& left);

// The provider's options that make it work as the device of this name. `devices`: what its library offers.
[[nodiscard]] core::Result<PluginUse> plugin_use(const std::string& device, const std::vector<PluginDevice>& devices);

// The vendor's compiler beside the provider's library; empty when it is not there.
[[nodiscard]] std::string compiler_file(const KnownProvider& provider, const std::string& provider_file);

}  // namespace latebind::onnxruntime
