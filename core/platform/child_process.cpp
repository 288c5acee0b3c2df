#include "core/platform/child_process.h"

#include <fmt/format.h>

namespace latebind::platform {

std::string describe(const ChildOutcome& outcome) {
  switch (outcome.end) {
    case ChildOutcome::End::kExited:
      return fmt::format("ended with exit status {}", outcome.number);
    case ChildOutcome::End::kSignal:
      return ended_by_own_fault(outcome) ? fmt::format("crashed with signal {}", outcome.number)
                                         : fmt::format("was ended by signal {}", outcome.number);
    case ChildOutcome::End::kUnknown:
      return "ended with an unknown status (this program ignores SIGCHLD, or reaps every child)";
    case ChildOutcome::End::kTimedOut:
      break;
  }
  return "did not end in time";
}

}  // namespace latebind::platform
