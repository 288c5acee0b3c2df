// Compiles models for a plugin provider, in a child process.
//
// The vendor's compiler numbers its outputs during the life of a process, and the numbers affect the bytes, so only a
// process's first compilation is reproducible. Therefore each compilation has its own process; a compiler that crashes,
// hangs or exhausts memory then affects nothing else. Any thread.
#pragma once

#include <chrono>
#include <string>

#include "backends/onnxruntime/plugin_providers.h"
#include "backends/onnxruntime/provider_trial.h"
#include "backends/onnxruntime/session_options.h"
#include "backends/onnxruntime/targets.h"
#include "core/backend/executable.h"
#include "core/model/model.h"
#include "core/result.h"

namespace latebind::onnxruntime {

// Large models take many minutes to compile.
inline constexpr std::chrono::minutes kCompileTimeMax{60};

// Compiles for the device of this name: a target such as "QNN.v73", or a device that the provider offers.
// `provider_file` is the provider's library. `left` receives the nodes that are left to the CPU, even on error. Returns
// the errors of compile_context(), or kDeviceFailed if the child crashes or takes longer than kCompileTimeMax.
[[nodiscard]] core::Result<core::SharedBytes> compile_in_child(
    const TrialOptions& options, const std::string& runtime_file, const std::string& provider_file,
    const std::string& device, const core::Model& model, const core::CompileOptions& compile, core::LeftNodes& left);

// The child's side: the name of its command, and what it does, which returns the line for the parent.
inline constexpr const char* kCompileCommand = "compile-for-provider";
[[nodiscard]] std::string run_compile_job(const std::string& job_file);

// The provider's options for the device of this name. `devices` are those that its library offers.
[[nodiscard]] core::Result<PluginUse> plugin_use(const std::string& device, const std::vector<PluginDevice>& devices);

// The vendor's compiler beside the provider's library; empty if it is missing.
[[nodiscard]] std::string compiler_file(const KnownProvider& provider, const std::string& provider_file);

}  // namespace latebind::onnxruntime
