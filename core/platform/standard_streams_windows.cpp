#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <windows.h>

#include "core/platform/standard_streams.h"

namespace latebind::platform {
namespace {

bool console_of_error_stream(CONSOLE_SCREEN_BUFFER_INFO& info) {
  return GetConsoleScreenBufferInfo(GetStdHandle(STD_ERROR_HANDLE), &info) != 0;
}

}  // namespace

bool error_stream_is_terminal() {
  CONSOLE_SCREEN_BUFFER_INFO info{};
  return console_of_error_stream(info);
}

unsigned error_stream_columns() {
  CONSOLE_SCREEN_BUFFER_INFO info{};
  if (!console_of_error_stream(info)) return 80;
  return static_cast<unsigned>(info.srWindow.Right - info.srWindow.Left + 1);
}

// A closed pipe is an error of the write on Windows anyway.
void ignore_closed_pipes() {}

std::FILE* take_standard_output() {
  std::fflush(stdout);
  const int kept = _dup(_fileno(stdout));
  if (kept < 0) return nullptr;
  std::FILE* const stream = _fdopen(kept, "wb");
  if (stream == nullptr || _dup2(_fileno(stderr), _fileno(stdout)) != 0) {
    if (stream != nullptr) std::fclose(stream);
    if (stream == nullptr) _close(kept);
    return nullptr;
  }
  return stream;
}

void use_binary_streams() {
  _setmode(_fileno(stdin), _O_BINARY);
  _setmode(_fileno(stdout), _O_BINARY);
}

}  // namespace latebind::platform
