#include <new>

#include "core/platform/files/file_lock_os.h"
#include "core/platform/files/windows_path.h"
#include "core/platform/windows_error.h"

namespace latebind::platform {

core::Result<std::intptr_t> try_lock_file(const std::filesystem::path& file) {
  // A file that is open cannot be removed, because its name would be gone while its lock is held.
  constexpr DWORD kShareAllButDelete = FILE_SHARE_READ | FILE_SHARE_WRITE;
  WindowsHandle handle(::CreateFileW(long_path(file).c_str(), GENERIC_READ | GENERIC_WRITE, kShareAllButDelete, nullptr,
                                     OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
  if (!handle.is_open()) {
    const DWORD error = ::GetLastError();
    // The file is being removed at this moment.
    if (error == ERROR_SHARING_VIOLATION || error == ERROR_DELETE_PENDING) return std::intptr_t{-1};
    return status_of_windows_error("lock", file, error);
  }
  OVERLAPPED place{};
  if (::LockFileEx(handle.get(), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place) != 0) {
    return reinterpret_cast<std::intptr_t>(handle.release());
  }
  const DWORD error = ::GetLastError();
  if (error == ERROR_LOCK_VIOLATION || error == ERROR_IO_PENDING) return std::intptr_t{-1};
  return status_of_windows_error("lock", file, error);
}

void unlock_file(std::intptr_t handle) noexcept {
  const auto file = reinterpret_cast<HANDLE>(handle);
  OVERLAPPED place{};
  ::UnlockFileEx(file, 0, 1, 0, &place);
  ::CloseHandle(file);
}

void unlock_and_remove_file(std::intptr_t handle, const std::filesystem::path& file) noexcept {
  // If somebody waits for the lock, the file stays, and the waiter removes it later.
  unlock_file(handle);
  try {
    ::DeleteFileW(long_path(file).c_str());
  } catch (const std::bad_alloc&) {
    // The file stays, and the next holder of the lock removes it.
  }
}

}  // namespace latebind::platform
