// Runs a program to its end, with arguments, without a shell: what it printed, and how it ended.
//
// For what may crash or hang and must not take this process along. The child reads nothing, is a process group of its
// own, inherits the environment and no file beside its three streams, and is gone when the call returns. Any thread;
// the call blocks until the child has ended or the time is up.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/result.h"

namespace latebind::platform {

struct ChildLimits {
  std::chrono::milliseconds time{30'000};
  // Of each stream as much is kept, from the beginning; the rest is read and dropped.
  std::size_t output_bytes = std::size_t{1} << 20;
};

struct ChildOutcome {
  enum class End { kExited, kSignal, kTimedOut };
  End end = End::kExited;
  // The exit status, or the number of the signal (Windows: of the exception) that ended it.
  int number = 0;
  std::string output{};
  std::string errors{};

  [[nodiscard]] bool good() const { return end == End::kExited && number == 0; }
};

// "ended with exit status 3", "crashed with signal 11", "did not end in time"
[[nodiscard]] std::string describe(const ChildOutcome& outcome);

// `program` is a full path. kNotFound or kPermissionDenied when it can not be started, kBusy when the system has no
// process or handle to give.
[[nodiscard]] core::Result<ChildOutcome> run_child(const std::filesystem::path& program,
                                                   const std::vector<std::string>& arguments,
                                                   const ChildLimits& limits = {});

// The file of the program that this process runs. kUnsupported where the system does not say.
[[nodiscard]] core::Result<std::filesystem::path> own_program_file();

}  // namespace latebind::platform
