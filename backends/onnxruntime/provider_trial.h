// The trial of a plugin provider: the first time that this version of its library meets this version of ONNX Runtime
// happens in a child process, and what came of it is remembered in a small file of the cache folder.
//
// A crash is remembered, and so is success. What may be gone the next time is not: an error that the provider itself
// gives, a time limit that a busy machine has missed, a signal that somebody sent. Thread-safe; several processes may
// remember at once, and the last one wins whole.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "core/result.h"

namespace latebind::onnxruntime {

inline constexpr const char* kTrialVariable = "LATEBIND_TRIAL_PROGRAM";

struct TrialOptions {
  // The program that works as a child: `latebind`. Empty: kTrialVariable, this program when it is `latebind`, else
  // the one beside this library or in ../bin.
  std::string program{};
  // Where trials are remembered, made for this user alone if it is not there. Empty: the system's cache folder for
  // Latebind. Where others may write, or that is somebody else's, nothing is remembered.
  std::filesystem::path folder{};
  // A library is read from a cold disk, and what it depends on.
  std::chrono::milliseconds time{60'000};
};

// The program. kNotFound says where it was looked for and what to set; see trial_program_near().
[[nodiscard]] core::Result<std::filesystem::path> trial_program(const TrialOptions& options);
// The program of this name in the folder of a library or in ../bin. kNotFound, or kPermissionDenied when somebody else
// could have put it there.
[[nodiscard]] core::Result<std::filesystem::path> trial_program_near(const std::filesystem::path& folder,
                                                                     const std::string& name);

// Ok when the provider has passed, now or before. kDeviceFailed for a crash or a hang, with the file that remembers
// it; the provider's own error; kNotFound when there is no program.
[[nodiscard]] core::Status try_provider(const TrialOptions& options, const std::string& runtime_file,
                                        const std::string& runtime_version, const std::string& provider_file);

// What a child has to say to its parent, as a line that nothing else on its standard output looks like; and back.
// Vendors print there, too.
[[nodiscard]] std::string line_for_parent(const core::Status& status);
// kInternal when there is no such line.
[[nodiscard]] core::Status status_from_child(std::string_view output);

}  // namespace latebind::onnxruntime
