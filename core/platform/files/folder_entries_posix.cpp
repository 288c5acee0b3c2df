#include <dirent.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "core/platform/files/folder_entries.h"

namespace latebind::platform {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

}  // namespace

void for_each_entry(const std::filesystem::path& folder, std::error_code& error,
                    const std::function<bool(const std::filesystem::path& entry)>& take) {
  error.clear();
  const std::unique_ptr<DIR, CloseFolder> open(::opendir(folder.c_str()));
  if (!open) {
    error.assign(errno, std::generic_category());
    return;
  }
  while (true) {
    errno = 0;
    const dirent* const entry = ::readdir(open.get());
    if (entry == nullptr) break;
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != ".." && !take(folder / name)) return;
  }
  if (errno != 0) error.assign(errno, std::generic_category());
}

}  // namespace latebind::platform
