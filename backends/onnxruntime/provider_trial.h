// The trial of a plugin provider. A child process is the first to use a version of a provider's library with a version
// of ONNX Runtime, and the result is stored in a small file in the cache folder.
//
// Crashes and successes are stored. Results that may not recur are not: an error that the provider returns, a time
// limit that a busy machine has missed, a signal from outside. Thread-safe. If several processes write at once, the
// last one replaces the whole file.
#pragma once

#include <string>

#include "core/result.h"
#include "core/vendor/child_trial.h"

namespace latebind::onnxruntime {

using core::TrialOptions;

// Ok if the provider has passed a trial, now or before. Returns kDeviceFailed for a crash or a hang, naming the file
// that stores it; the provider's own error; or kNotFound if there is no program.
[[nodiscard]] core::Status try_provider(const TrialOptions& options, const std::string& runtime_file,
                                        const std::string& runtime_version, const std::string& provider_file);

// The child's side: the name of its command, and what it does, which returns the line for the parent.
inline constexpr const char* kTrialCommand = "try-provider";
[[nodiscard]] std::string run_trial(const std::string& runtime_file, const std::string& provider_file);

}  // namespace latebind::onnxruntime
