#include "core/platform/files/room_behind.h"

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string>
#include <system_error>

#include "core/platform/files/file_size_signal.h"
#include "core/platform/os_error.h"

namespace latebind::platform {
namespace {

// More than a block of any file system.
constexpr std::size_t kRoom = std::size_t{64} << 10;

}  // namespace

core::Status check_room_behind(const std::filesystem::path& file) {
  const NoFileSizeSignal limit_is_an_error;
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  errno = 0;
  std::ofstream more(file, std::ios::binary | std::ios::app);
  // Not zeros, because these need no room on some file systems.
  more << std::string(kRoom, 'x');
  more.close();
  if (!more) return status_of_errno("write all of", file, errno == 0 ? ENOSPC : errno);
  std::filesystem::resize_file(file, error ? 0 : size, error);
  return error ? status_of_errno("restore", file, error.default_error_condition().value()) : core::Status();
}

}  // namespace latebind::platform
