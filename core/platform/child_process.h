// Runs a program to its end, with arguments, without a shell: returns what it printed, and how it ended.
//
// For what may crash or hang and must not take this process along. The child reads nothing, is its own process group,
// inherits the environment and no files except its three streams, and is gone when the call returns. This process may
// ignore SIGCHLD or reap every child: then it is known only that the child ended, not how. Any thread; the call blocks
// until the child has ended or the time is up.
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
  // This much of each stream is kept, from the beginning; the rest is read and dropped.
  std::size_t output_bytes = std::size_t{1} << 20;
};

struct ChildOutcome {
  enum class End {
    kExited,
    kSignal,
    kTimedOut,
    kUnknown,  // ended, and something else in this process has taken its exit status: only its output is known
  };
  End end = End::kExited;
  // The exit status, or the number of the signal (Windows: of the exception) that ended it.
  int number = 0;
  std::string output{};
  std::string errors{};

  [[nodiscard]] bool good() const { return end == End::kExited && number == 0; }
};

// "ended with exit status 3", "crashed with signal 11", "was ended by signal 9", "did not end in time"
[[nodiscard]] std::string describe(const ChildOutcome& outcome);

// True for a crash caused by the program itself, which is likely to happen again. Not for a signal sent by others (the
// system when memory was short, a user), and not for a time limit.
[[nodiscard]] bool ended_by_own_fault(const ChildOutcome& outcome);

// `program` is a full path. kNotFound or kPermissionDenied when it cannot be started, kBusy when the system is out of
// processes or handles.
[[nodiscard]] core::Result<ChildOutcome> run_child(const std::filesystem::path& program,
                                                   const std::vector<std::string>& arguments,
                                                   const ChildLimits& limits = {});

// For a program that run_child() has started, to be called early in it, by one thread: from now on this process ends
// when its parent does, however that ends. Does nothing in any other process, and on Windows, where this holds for
// every child.
void end_with_parent();

// For programs: runs another one in the place of this one, with its streams, its environment and its working folder,
// and with the system's own handling of signals. Returns only where that cannot be (the errors of run_child()), or, on
// Windows, with the exit status once that program has ended.
[[nodiscard]] core::Result<int> run_instead(const std::filesystem::path& program,
                                            const std::vector<std::string>& arguments);

// The file of the program that this process runs. kUnsupported where the system does not report it.
[[nodiscard]] core::Result<std::filesystem::path> own_program_file();

}  // namespace latebind::platform
