#include "core/platform/folder_trust.h"

namespace latebind::platform {

core::Status check_folder_trust(const std::filesystem::path&) {
  return {};
}

}  // namespace latebind::platform
