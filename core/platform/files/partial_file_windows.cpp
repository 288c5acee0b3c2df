#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>

#include <cerrno>

#include "core/platform/files/output_file_os.h"
#include "core/platform/files/partial_file_os.h"
#include "core/platform/files/windows_path.h"
#include "core/platform/os_error.h"
#include "core/platform/windows_error.h"

namespace latebind::platform {

using core::Result;
using core::Status;
using std::filesystem::path;

Result<OpenedPartial> open_partial(const path& file) {
  WindowsHandle handle(::CreateFileW(long_path(file).c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE,
                                     nullptr, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT,
                                     nullptr));
  if (!handle.is_open()) return status_of_windows_error("write", file, ::GetLastError());
  LARGE_INTEGER zero{};
  LARGE_INTEGER end{};
  if (::SetFilePointerEx(handle.get(), zero, &end, FILE_END) == 0) {
    return status_of_windows_error("write", file, ::GetLastError());
  }
  const int descriptor = ::_open_osfhandle(reinterpret_cast<intptr_t>(handle.get()), _O_BINARY | _O_NOINHERIT);
  if (descriptor < 0) return status_of_errno("write", file, errno);
  static_cast<void>(handle.release());
  return OpenedPartial{descriptor, static_cast<std::uint64_t>(end.QuadPart)};
}

Status cut_partial(int handle, std::uint64_t size, const path& file) {
  const auto end = static_cast<__int64>(size);
  const int error = ::_chsize_s(handle, end);
  if (error != 0) return status_of_errno("write", file, error);
  return ::_lseeki64(handle, end, SEEK_SET) == end ? Status() : status_of_errno("write", file, errno);
}

std::uint64_t size_of_partial(int handle, std::uint64_t otherwise) {
  const auto size = ::_filelengthi64(handle);
  return size < 0 ? otherwise : static_cast<std::uint64_t>(size);
}

}  // namespace latebind::platform
