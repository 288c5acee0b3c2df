#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <thread>

#include "core/platform/files/folder_lock.h"

namespace latebind::platform {

FolderLock::FolderLock(const std::filesystem::path& folder, std::chrono::milliseconds timeout) noexcept
    : descriptor_(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  constexpr std::chrono::milliseconds kStep{5};
  const auto limit = std::chrono::steady_clock::now() + timeout;
  while (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(kStep);
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace latebind::platform
