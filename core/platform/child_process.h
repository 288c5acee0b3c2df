// Runs a program to its end, with arguments and without a shell, and returns what it printed and how it ended.
//
// This is for work that may crash or hang and must not affect this process. The child reads no input, is its own
// process group, inherits the environment and no files except its three streams, and is gone when the call returns. If
// this process ignores SIGCHLD or reaps every child elsewhere, the outcome says only that the child ended, not how.
// Functions may be called from any thread; run_child() blocks until the child has ended or the time is up.
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
  // This much of each stream is kept, from the beginning. The rest is read and dropped.
  std::size_t output_bytes = std::size_t{1} << 20;
};

struct ChildOutcome {
  enum class End {
    kExited,
    kSignal,
    kTimedOut,
    kUnknown,  // ended, but other code in this process took the exit status; only the output is known
  };
  End end = End::kExited;
  // The exit status, or the number of the signal (Windows: of the exception) that ended it.
  int number = 0;
  std::string output{};
  std::string errors{};

  [[nodiscard]] bool good() const { return end == End::kExited && number == 0; }
};

// Returns a description: "ended with exit status 3", "crashed with signal 11", "was ended by signal 9", "did not end in
// time".
[[nodiscard]] std::string describe(const ChildOutcome& outcome);

// Whether the program crashed by its own fault, which is likely to happen again. False for a signal that others sent
// (the system when memory was short, a user) and for a time limit.
[[nodiscard]] bool ended_by_own_fault(const ChildOutcome& outcome);

// Runs `program`, which is a full path. kNotFound or kPermissionDenied when it cannot be started, kBusy when the system
// is out of processes or handles.
[[nodiscard]] core::Result<ChildOutcome> run_child(const std::filesystem::path& program,
                                                   const std::vector<std::string>& arguments,
                                                   const ChildLimits& limits = {});

// From now on this process ends when its parent does, however the parent ends. For a program that run_child() has
// started: call it early, on one thread. It does nothing in any other process, and on Windows, where run_child()
// arranges this for every child.
void end_with_parent();

// For programs: replaces this program by another one, which gets its streams, environment and working folder, and
// default signal handling. On Linux it returns only on an error (those of run_child()). On Windows it runs the other
// program and returns its exit status.
[[nodiscard]] core::Result<int> run_instead(const std::filesystem::path& program,
                                            const std::vector<std::string>& arguments);

// Returns the file of the program that this process runs. kUnsupported if the system does not report it.
[[nodiscard]] core::Result<std::filesystem::path> own_program_file();

}  // namespace latebind::platform
