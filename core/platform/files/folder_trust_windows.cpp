#include <system_error>

#include "core/platform/files/folder_trust.h"
#include "core/platform/os_error.h"

namespace latebind::platform {

core::Status check_folder_trust(const std::filesystem::path&) {
  return {};
}

core::Result<std::optional<std::filesystem::path>> link_target(const std::filesystem::path&) {
  return std::optional<std::filesystem::path>();
}

core::Status make_private_folder(const std::filesystem::path& folder) {
  LB_RETURN_IF_ERROR(check_path("make the folder", folder));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return {};
  return status_of_errno("make the folder", folder, error.default_error_condition().value());
}

}  // namespace latebind::platform
