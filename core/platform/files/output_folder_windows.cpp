#include <fmt/format.h>

#include "core/platform/files/output_folder_os.h"
#include "core/platform/files/temporary_name.h"
#include "core/platform/files/windows_path.h"
#include "core/platform/os_error.h"
#include "core/platform/windows_error.h"

namespace latebind::platform {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using std::filesystem::path;

constexpr DWORD kShareAllButDelete = FILE_SHARE_READ | FILE_SHARE_WRITE;

bool move(const path& from, const path& to) {
  return ::MoveFileExW(long_path(from).c_str(), long_path(to).c_str(), MOVEFILE_WRITE_THROUGH) != 0;
}

}  // namespace

Result<OpenedFolder> make_temporary_folder(const path& parent, const path& target) {
  constexpr int kMostNames = 16;
  for (int attempt = 0; attempt < kMostNames; ++attempt) {
    const path name = parent / new_temporary_name();
    if (::CreateDirectoryW(long_path(name).c_str(), nullptr) == 0) {
      const DWORD error = ::GetLastError();
      if (error == ERROR_ALREADY_EXISTS) continue;
      if (error == ERROR_PATH_NOT_FOUND) {
        return Status(StatusCode::kNotFound,
                      fmt::format("cannot write {}: the folder {} does not exist; create it first", quoted(target),
                                  quoted(parent)));
      }
      return status_of_windows_error("write", target, error);
    }
    HANDLE handle = ::CreateFileW(long_path(name).c_str(), FILE_LIST_DIRECTORY, kShareAllButDelete, nullptr,
                                  OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
    return OpenedFolder{name, handle == INVALID_HANDLE_VALUE ? -1 : reinterpret_cast<std::intptr_t>(handle)};
  }
  return status_of_windows_error("write", target, ERROR_ALREADY_EXISTS);
}

void close_folder_quietly(std::intptr_t handle) noexcept {
  if (handle != -1) ::CloseHandle(reinterpret_cast<HANDLE>(handle));
}

Result<bool> place_folder(const path& temporary, const path& target) {
  // Windows does not rename over an existing folder, not even over an empty one.
  if (::RemoveDirectoryW(long_path(target).c_str()) == 0) {
    const DWORD error = ::GetLastError();
    if (error == ERROR_DIR_NOT_EMPTY) return false;
    if (error != ERROR_FILE_NOT_FOUND) return status_of_windows_error("write", target, error);
  }
  if (move(temporary, target)) return true;
  return status_of_windows_error("write", target, ::GetLastError());
}

Status exchange_folders(const path& temporary, const path& target) {
  const path aside = target.parent_path() / new_temporary_name(".old");
  if (!move(target, aside)) return status_of_windows_error("replace", target, ::GetLastError());
  if (!move(temporary, target)) {
    const DWORD error = ::GetLastError();
    if (!move(aside, target)) {
      return Status(StatusCode::kIo, fmt::format("cannot replace {}: the previous content is now {}; move it back",
                                                 quoted(target), quoted(aside)));
    }
    return status_of_windows_error("replace", target, error);
  }
  if (move(aside, temporary)) return Status();
  return Status(StatusCode::kIo,
                fmt::format("{} was replaced, but its previous content could not be removed and is now {}",
                            quoted(target), quoted(aside)));
}

// The writer's handle does not let others delete the folder.
bool is_abandoned_folder(const path& temporary) noexcept {
  const WindowsHandle handle(::CreateFileW(long_path(temporary).c_str(), DELETE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                           nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  return handle.is_open();
}

}  // namespace latebind::platform
