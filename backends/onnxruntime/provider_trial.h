// The trial of a plugin provider: the first use of this version of its library with this version of ONNX Runtime
// happens in a child process, and the result is remembered in a small file in the cache folder.
//
// Crashes and successes are remembered. What may not happen the next time is not: an error that the provider itself
// returns, a time limit that a busy machine has missed, a signal from outside. Thread-safe; several processes may write
// at once, and the last one wins completely.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "core/result.h"

namespace latebind::onnxruntime {

inline constexpr const char* kTrialVariable = "LATEBIND_TRIAL_PROGRAM";

struct TrialOptions {
  // The program that runs as the child: `latebind`. Empty: kTrialVariable, this program when it is `latebind`, else the
  // one beside this library or in ../bin.
  std::string program{};
  // Where trials are remembered, created private to this user if missing. Empty: the system's cache folder for
  // Latebind. In a folder that others may write to or that belongs to another user, nothing is remembered.
  std::filesystem::path folder{};
  // The library and its dependencies may be read from a cold disk.
  std::chrono::milliseconds time{60'000};
};

// The program. kNotFound says where it was looked for and what to set; see trial_program_near().
[[nodiscard]] core::Result<std::filesystem::path> trial_program(const TrialOptions& options);
// The program of this name in the folder of a library or in ../bin. kNotFound, or kPermissionDenied when another user
// could have put it there.
[[nodiscard]] core::Result<std::filesystem::path> trial_program_near(const std::filesystem::path& folder,
                                                                     const std::string& name);

// Ok when the provider has passed, now or before. kDeviceFailed for a crash or a hang, naming the file that remembers
// it; the provider's own error; kNotFound when there is no program.
[[nodiscard]] core::Status try_provider(const TrialOptions& options, const std::string& runtime_file,
                                        const std::string& runtime_version, const std::string& provider_file);

// A child's message to its parent, as a line distinct from anything else on its standard output; and back. Vendors
// print there, too.
[[nodiscard]] std::string line_for_parent(const core::Status& status);
// kInternal when there is no such line.
[[nodiscard]] core::Status status_from_child(std::string_view output);

}  // namespace latebind::onnxruntime
