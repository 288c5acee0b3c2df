#include "core/platform/file_lock_os.h"
#include "core/platform/windows_error.h"

namespace latebind::platform {

core::Result<void*> try_lock_file(const std::filesystem::path& file) {
  constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  WindowsHandle handle(::CreateFileW(file.c_str(), GENERIC_READ | GENERIC_WRITE, kShareAll, nullptr, OPEN_ALWAYS,
                                     FILE_ATTRIBUTE_NORMAL, nullptr));
  if (!handle.is_open()) return status_of_windows_error("lock", file, ::GetLastError());
  OVERLAPPED place{};
  if (::LockFileEx(handle.get(), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place) != 0) {
    return static_cast<void*>(handle.release());
  }
  const DWORD error = ::GetLastError();
  if (error == ERROR_LOCK_VIOLATION || error == ERROR_IO_PENDING) return static_cast<void*>(nullptr);
  return status_of_windows_error("lock", file, error);
}

void unlock_file(void* handle) noexcept {
  OVERLAPPED place{};
  ::UnlockFileEx(handle, 0, 1, 0, &place);
  ::CloseHandle(handle);
}

}  // namespace latebind::platform
