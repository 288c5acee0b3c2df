#include "core/platform/temporary_folder.h"

#include <utility>

namespace latebind::platform {

TemporaryFolder::TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
  }
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  remove();
}

void TemporaryFolder::remove() noexcept {
  if (path_.empty()) return;
  try {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
    if (!error) path_.clear();
  } catch (const std::bad_alloc&) {
    // It stays.
  }
}

}  // namespace latebind::platform
