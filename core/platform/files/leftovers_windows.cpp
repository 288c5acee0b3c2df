#include "core/platform/files/leftovers.h"
#include "core/platform/windows_error.h"

namespace latebind::platform {

// The system calls it on a thread of its own; after FALSE it ends the process.
void remove_leftovers_on_signals() {
  ::SetConsoleCtrlHandler(
      [](DWORD) -> BOOL {
        remove_leftovers();
        return FALSE;
      },
      TRUE);
}

}  // namespace latebind::platform
