#include "core/platform/files/folder_entries.h"

namespace latebind::platform {

void for_each_entry(const std::filesystem::path& folder, std::error_code& error,
                    const std::function<bool(const std::filesystem::path& entry)>& take) {
  error.clear();
  std::filesystem::directory_iterator entry(folder, error);
  for (const std::filesystem::directory_iterator end; !error && entry != end; entry.increment(error)) {
    if (!take(entry->path())) return;
  }
}

}  // namespace latebind::platform
