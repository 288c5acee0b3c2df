#include <algorithm>
#include <array>
#include <system_error>
#include <thread>
#include <utility>

#include "core/platform/child_process.h"
#include "core/platform/files/windows_path.h"
#include "core/platform/os_error.h"
#include "core/platform/windows_error.h"

namespace latebind::platform {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

// Exit codes from this one on are those of unhandled exceptions, such as 0xC0000005.
constexpr DWORD kExceptionFirst = 0xC0000000U;

struct Pipe {
  HANDLE read = nullptr;
  HANDLE write = nullptr;

  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close(read);
    close(write);
  }
  static void close(HANDLE& handle) {
    if (handle != nullptr) ::CloseHandle(handle);
    handle = nullptr;
  }
  bool open() {
    SECURITY_ATTRIBUTES inherited{sizeof(SECURITY_ATTRIBUTES), nullptr, TRUE};
    return ::CreatePipe(&read, &write, &inherited, 0) != 0 && ::SetHandleInformation(read, HANDLE_FLAG_INHERIT, 0) != 0;
  }
};

// Quotes an argument so that the C runtime of the child parses it back.
std::wstring quoted_argument(const std::wstring& text) {
  std::wstring result = L"\"";
  std::size_t backslashes = 0;
  for (const wchar_t c : text) {
    if (c == L'\\') {
      ++backslashes;
      continue;
    }
    result.append(c == L'"' ? 2 * backslashes + 1 : backslashes, L'\\');
    backslashes = 0;
    result += c;
  }
  result.append(2 * backslashes, L'\\');
  return result + L"\"";
}

std::wstring command_line(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  std::wstring line = quoted_argument(program.wstring());
  for (const std::string& argument : arguments)
    line += L" " + quoted_argument(utf16_of(argument));
  return line;
}

void read_all(HANDLE handle, std::string& text, std::size_t most) {
  std::array<char, 16384> buffer{};
  DWORD count = 0;
  while (::ReadFile(handle, buffer.data(), static_cast<DWORD>(buffer.size()), &count, nullptr) != 0 && count > 0) {
    text.append(buffer.data(), std::min<std::size_t>(count, most - std::min(most, text.size())));
  }
}

}  // namespace

Result<int> run_instead(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  LB_RETURN_IF_ERROR(check_path("start", program));
  std::wstring line = command_line(program, arguments);
  STARTUPINFOW start{};
  start.cb = sizeof start;
  PROCESS_INFORMATION process{};
  if (::CreateProcessW(long_path(program).c_str(), line.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr, &start,
                       &process) == 0) {
    return status_of_windows_error("start", program, ::GetLastError());
  }
  const WindowsHandle child(process.hProcess);
  const WindowsHandle thread(process.hThread);
  // Ctrl+C reaches both programs; this one waits for the other to handle it.
  ::SetConsoleCtrlHandler(nullptr, TRUE);
  ::WaitForSingleObject(child.get(), INFINITE);
  DWORD code = 1;
  ::GetExitCodeProcess(child.get(), &code);
  return static_cast<int>(code);
}

Result<ChildOutcome> run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                               const ChildLimits& limits) {
  LB_RETURN_IF_ERROR(check_path("start", program));
  Pipe output;
  Pipe errors;
  if (!output.open() || !errors.open()) return status_of_windows_error("start", program, ::GetLastError());
  // Everything that the child starts ends with this job.
  const WindowsHandle job(::CreateJobObjectW(nullptr, nullptr));
  if (!job.is_open()) return status_of_windows_error("start", program, ::GetLastError());
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION bounds{};
  bounds.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
  ::SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation, &bounds, sizeof bounds);

  std::wstring line = command_line(program, arguments);

  // An empty input, instead of no handle at all.
  SECURITY_ATTRIBUTES inheritable{sizeof(SECURITY_ATTRIBUTES), nullptr, TRUE};
  const WindowsHandle nothing(
      ::CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &inheritable, OPEN_EXISTING, 0, nullptr));
  if (!nothing.is_open()) return status_of_windows_error("start", program, ::GetLastError());
  // Only these three handles are inherited, whatever else is inheritable in this process.
  std::array<HANDLE, 3> inherited{nothing.get(), output.write, errors.write};
  SIZE_T size = 0;
  ::InitializeProcThreadAttributeList(nullptr, 1, 0, &size);
  std::string storage(size, '\0');
  auto* const attributes = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(storage.data());
  if (::InitializeProcThreadAttributeList(attributes, 1, 0, &size) == 0 ||
      ::UpdateProcThreadAttribute(attributes, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, inherited.data(), sizeof inherited,
                                  nullptr, nullptr) == 0) {
    return status_of_windows_error("start", program, ::GetLastError());
  }
  STARTUPINFOEXW start{};
  start.StartupInfo.cb = sizeof start;
  start.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  start.StartupInfo.hStdInput = nothing.get();
  start.StartupInfo.hStdOutput = output.write;
  start.StartupInfo.hStdError = errors.write;
  start.lpAttributeList = attributes;
  PROCESS_INFORMATION process{};
  const BOOL started = ::CreateProcessW(long_path(program).c_str(), line.data(), nullptr, nullptr, TRUE,
                                        CREATE_SUSPENDED | CREATE_NO_WINDOW | EXTENDED_STARTUPINFO_PRESENT, nullptr,
                                        nullptr, &start.StartupInfo, &process);
  const DWORD error = ::GetLastError();
  ::DeleteProcThreadAttributeList(attributes);
  if (started == 0) return status_of_windows_error("start", program, error);
  const WindowsHandle child(process.hProcess);
  const WindowsHandle thread(process.hThread);
  ::AssignProcessToJobObject(job.get(), child.get());
  Pipe::close(output.write);
  Pipe::close(errors.write);

  ChildOutcome outcome;
  bool late = false;
  bool watched = true;
  std::thread output_reader;
  std::thread errors_reader;
  try {
    output_reader = std::thread([&] { read_all(output.read, outcome.output, limits.output_bytes); });
    errors_reader = std::thread([&] { read_all(errors.read, outcome.errors, limits.output_bytes); });
    ::ResumeThread(thread.get());
    late = ::WaitForSingleObject(child.get(), static_cast<DWORD>(limits.time.count())) != WAIT_OBJECT_0;
  } catch (const std::system_error&) {
    watched = false;
  }
  ::TerminateJobObject(job.get(), 1);
  ::WaitForSingleObject(child.get(), INFINITE);
  if (output_reader.joinable()) output_reader.join();
  if (errors_reader.joinable()) errors_reader.join();
  if (!watched) return Status(StatusCode::kBusy, "the system cannot start a thread to watch a child process");
  DWORD code = 0;
  ::GetExitCodeProcess(child.get(), &code);
  if (late) {
    outcome.end = ChildOutcome::End::kTimedOut;
  } else {
    outcome.end = code >= kExceptionFirst ? ChildOutcome::End::kSignal : ChildOutcome::End::kExited;
    outcome.number = static_cast<int>(code);
  }
  return outcome;
}

bool ended_by_own_fault(const ChildOutcome& outcome) {
  if (outcome.end != ChildOutcome::End::kSignal) return false;
  // Lack of memory, Ctrl+C and the like are not included.
  constexpr std::array kFaults{STATUS_ACCESS_VIOLATION,       STATUS_ILLEGAL_INSTRUCTION, STATUS_INTEGER_DIVIDE_BY_ZERO,
                               STATUS_PRIVILEGED_INSTRUCTION, STATUS_STACK_OVERFLOW,      STATUS_HEAP_CORRUPTION,
                               STATUS_STACK_BUFFER_OVERRUN};
  return std::ranges::find(kFaults, static_cast<DWORD>(outcome.number)) != kFaults.end();
}

// The job object ends the child.
void end_with_parent() {}

Result<std::filesystem::path> own_program_file() {
  std::wstring name(32768, L'\0');
  const DWORD size = ::GetModuleFileNameW(nullptr, name.data(), static_cast<DWORD>(name.size()));
  if (size == 0 || size >= name.size()) return status_of_windows_error("find", "this program", ::GetLastError());
  name.resize(size);
  return std::filesystem::path(name);
}

}  // namespace latebind::platform
