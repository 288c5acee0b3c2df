#include <fcntl.h>
#include <io.h>
#include <stdio.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "core/platform/standard_streams.h"
#include "core/platform/windows_error.h"
// shellapi.h needs the types of windows.h.
#include <shellapi.h>

namespace latebind::platform {
namespace {

struct FreeLocal {
  void operator()(wchar_t** memory) const { ::LocalFree(static_cast<void*>(memory)); }
};

std::optional<unsigned> columns_of(DWORD stream) {
  CONSOLE_SCREEN_BUFFER_INFO info{};
  if (::GetConsoleScreenBufferInfo(::GetStdHandle(stream), &info) == 0) return std::nullopt;
  return static_cast<unsigned>(info.srWindow.Right - info.srWindow.Left + 1);
}

// The console's previous mode. The console belongs to the shell, which continues to use it.
UINT output_page_before = 0;
DWORD error_mode_before = 0;

void restore_console() {
  if (output_page_before != 0) ::SetConsoleOutputCP(output_page_before);
  if (error_mode_before != 0) ::SetConsoleMode(::GetStdHandle(STD_ERROR_HANDLE), error_mode_before);
}

}  // namespace

std::vector<std::string> program_arguments(int argc, const char* const* argv) {
  int count = 0;
  const std::unique_ptr<wchar_t*, FreeLocal> words(::CommandLineToArgvW(::GetCommandLineW(), &count));
  if (words == nullptr) return {argv, argv + argc};
  std::vector<std::string> arguments;
  arguments.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    arguments.push_back(utf8_of(words.get()[i]));
  return arguments;
}

void prepare_program() {
  // An empty folder removes the current one from the loader's search.
  ::SetDllDirectoryW(L"");
  const UINT page = ::GetConsoleOutputCP();  // 0: there is no console
  if (page != 0 && page != CP_UTF8 && ::SetConsoleOutputCP(CP_UTF8) != 0) output_page_before = page;
  DWORD mode = 0;
  HANDLE error_stream = ::GetStdHandle(STD_ERROR_HANDLE);
  if (::GetConsoleMode(error_stream, &mode) != 0 && (mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING) == 0 &&
      ::SetConsoleMode(error_stream, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0) {
    error_mode_before = mode;
  }
  static_cast<void>(std::atexit(restore_console));
}

// The C runtime would write single bytes, and a console would then show the bytes of a letter separately.
void write_to_error_stream(std::string_view text) {
  HANDLE stream = ::GetStdHandle(STD_ERROR_HANDLE);
  DWORD mode = 0;
  std::fflush(stderr);
  if (::GetConsoleMode(stream, &mode) == 0) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
    return;
  }
  const std::wstring wide = utf16_of(text);
  DWORD written = 0;
  ::WriteConsoleW(stream, wide.data(), static_cast<DWORD>(wide.size()), &written, nullptr);
}

// A console that does not support escape sequences would show them as characters.
bool error_stream_is_terminal() {
  DWORD mode = 0;
  return ::GetConsoleMode(::GetStdHandle(STD_ERROR_HANDLE), &mode) != 0 &&
         (mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

unsigned error_stream_columns() {
  return columns_of(STD_ERROR_HANDLE).value_or(80);
}

std::optional<unsigned> output_stream_columns() {
  return columns_of(STD_OUTPUT_HANDLE);
}

bool input_stream_is_terminal() {
  DWORD mode = 0;
  return ::GetConsoleMode(::GetStdHandle(STD_INPUT_HANDLE), &mode) != 0;
}

std::string_view input_end_keys() {
  return "Ctrl-Z and Enter";
}

// On Windows, such writes always fail.
void let_writes_fail() {}

// The C runtime has no errno for most of these errors.
bool is_closed_pipe(int error_number) {
  const auto error = static_cast<DWORD>(_doserrno);
  return error_number == EPIPE || error == ERROR_NO_DATA || error == ERROR_PIPE_NOT_CONNECTED;
}

// tmpfile() would create the file in the root of the drive, where users may not write.
std::FILE* temporary_stream() {
  std::array<wchar_t, MAX_PATH + 1> folder{};
  std::array<wchar_t, MAX_PATH + 1> name{};
  const DWORD size = ::GetTempPathW(static_cast<DWORD>(folder.size()), folder.data());
  if (size == 0 || size >= folder.size() || ::GetTempFileNameW(folder.data(), L"lb", 0, name.data()) == 0) {
    errno = ENOENT;
    return nullptr;
  }
  // D removes the file when it is closed. T keeps it in memory while there is enough.
  return _wfopen(name.data(), L"w+bTD");
}

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
  constexpr std::size_t kBlock = std::size_t{64} * 1024;
  std::setvbuf(stdout, nullptr, _IOFBF, kBlock);
}

}  // namespace latebind::platform
