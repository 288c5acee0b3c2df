// The trial of a plugin provider. A child process is the first to use a version of a provider's library with a version
// of ONNX Runtime, and the result is stored in a small file in the cache folder.
//
// Crashes and successes are stored. Results that may not recur are not: an error that the provider returns, a time
// limit that a busy machine has missed, a signal from outside. Thread-safe. If several processes write at once, the
// last one replaces the whole file.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "core/result.h"

namespace latebind::onnxruntime {

inline constexpr const char* kTrialVariable = "LATEBIND_TRIAL_PROGRAM";

struct TrialOptions {
  // The program that runs as the child, `latebind`. Empty: kTrialVariable, this program if it is `latebind`, else the
  // one beside this library or in ../bin.
  std::string program{};
  // The folder of the stored trials; if missing, it is created for this user only. Empty: the system's cache folder for
  // Latebind. Nothing is stored in a folder that belongs to another user or that others may write to.
  std::filesystem::path folder{};
  // The library and its dependencies may be read from a cold disk.
  std::chrono::milliseconds time{60'000};
};

// The program. kNotFound says where it was searched for and what to set; see also trial_program_near().
[[nodiscard]] core::Result<std::filesystem::path> trial_program(const TrialOptions& options);
// The program of this name in a library's folder or in ../bin. Returns kNotFound, or kPermissionDenied if another user
// could have placed it there.
[[nodiscard]] core::Result<std::filesystem::path> trial_program_near(const std::filesystem::path& folder,
                                                                     const std::string& name);

// Ok if the provider has passed a trial, now or before. Returns kDeviceFailed for a crash or a hang, naming the file
// that stores it; the provider's own error; or kNotFound if there is no program.
[[nodiscard]] core::Status try_provider(const TrialOptions& options, const std::string& runtime_file,
                                        const std::string& runtime_version, const std::string& provider_file);

// The child's side: the name of its command, and what it does, which returns the line for the parent.
inline constexpr const char* kTrialCommand = "try-provider";
[[nodiscard]] std::string run_trial(const std::string& runtime_file, const std::string& provider_file);

// A child's message to its parent, as a line that differs from all others on its standard output, where vendors print
// as well; and the way back.
[[nodiscard]] std::string line_for_parent(const core::Status& status);
// Returns kInternal if the output has no such line.
[[nodiscard]] core::Status status_from_child(std::string_view output);

}  // namespace latebind::onnxruntime
