// Trials: a child process is the first to use a library of others, so that one that crashes or hangs harms nothing
// else.
//
// This file has what all trials share: the program that is the child, and the line by which it reports to its parent.
// Functions may be called from any thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/json/value.h"
#include "core/result.h"

namespace latebind::core {

// Names the program that is the child.
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
[[nodiscard]] Result<std::filesystem::path> trial_program(const TrialOptions& options);
// The program of this name in a library's folder or in ../bin. Returns kNotFound, or kPermissionDenied if another user
// could have placed it there.
[[nodiscard]] Result<std::filesystem::path> trial_program_near(const std::filesystem::path& folder,
                                                               const std::string& name);

// A child's message to its parent, as a line that differs from all others on its standard output, where vendors print
// as well. `report` is what the child has to say beyond the status.
[[nodiscard]] std::string line_for_parent(const Status& status, const Json& report = {});
// The way back. Returns kInternal if the output has no such line. Sets `report`, unless null, to what came with it.
[[nodiscard]] Status status_from_child(std::string_view output, Json* report = nullptr);

}  // namespace latebind::core
