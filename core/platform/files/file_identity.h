// FileIdentity: identifies, without reading it, a file as the one that was read before.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/result.h"

namespace latebind::platform {

// Times are nanoseconds since 1970 (Linux) or 1601 (Windows). A writer can set the first one back, as tools that
// preserve times do; nobody can set the second.
struct FileIdentity {
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  // of the content, or of the file's metadata: owner, rights, links
  std::uint64_t file = 0;       // its number on its device
  std::uint64_t device = 0;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

// Of the file that a link leads to. kNotFound, kPermissionDenied, kIo; kInvalidArgument for anything but a regular
// file. Any thread.
[[nodiscard]] core::Result<FileIdentity> file_identity(const std::filesystem::path& file);

// Nanoseconds since the later of its times, by the system's clock; negative when the file is from the future.
[[nodiscard]] std::int64_t age_ns(const FileIdentity& identity);

}  // namespace latebind::platform
