#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX has more in it than C
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "core/platform/files/temporary_folder_os.h"
#include "core/platform/standard_streams.h"

namespace latebind::platform {

std::vector<std::string> program_arguments(int argc, const char* const* argv) {
  return {argv, argv + argc};
}

// Terminals use UTF-8 on Linux, and the loader never searches the current folder.
void prepare_program() {
  // A file that is opened next gets the lowest free number. An O_PATH descriptor can be neither read nor written, so
  // its user gets the same error as for a closed one.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF) static_cast<void>(::open("/", O_PATH));
  }
}

// Does not use stdio: a thread that waits for a reader inside stdio holds a lock that exit() needs.
void write_to_error_stream(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool error_stream_is_terminal() {
  return isatty(STDERR_FILENO) == 1;
}

unsigned error_stream_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::optional<unsigned> output_stream_columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return std::nullopt;
}

bool input_stream_is_terminal() {
  return isatty(STDIN_FILENO) == 1;
}

std::string_view input_end_keys() {
  return "Ctrl-D";
}

void let_writes_fail() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

bool is_closed_pipe(int error_number) {
  return error_number == EPIPE;
}

// std::tmpfile() ignores where the user has room for such files.
std::FILE* temporary_stream() {
  const auto place = temporary_place();
  const std::string folder = place.ok() ? place->string() : "/tmp";
  int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) {
    // For file systems without unnamed files.
    std::string name = folder + "/latebind-XXXXXX";
    file = ::mkostemp(name.data(), O_CLOEXEC);
    if (file >= 0) ::unlink(name.c_str());
  }
  if (file < 0) return std::tmpfile();
  std::FILE* const stream = fdopen(file, "w+b");
  if (stream == nullptr) close(file);
  return stream;
}

// On Linux, streams are always binary.
void use_binary_streams() {}

std::FILE* take_standard_output() {
  std::fflush(stdout);
  const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (kept < 0) return nullptr;
  std::FILE* const stream = fdopen(kept, "wb");
  if (stream == nullptr || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    if (stream != nullptr) std::fclose(stream);
    if (stream == nullptr) close(kept);
    return nullptr;
  }
  return stream;
}

}  // namespace latebind::platform
