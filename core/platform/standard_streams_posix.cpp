#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX has more in it than C
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/platform/standard_streams.h"

namespace latebind::platform {

bool error_stream_is_terminal() {
  return isatty(STDERR_FILENO) == 1;
}

unsigned error_stream_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

void ignore_closed_pipes() {
  signal(SIGPIPE, SIG_IGN);
}

// They always do here.
void use_binary_streams() {}

}  // namespace latebind::platform
