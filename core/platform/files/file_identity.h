// FileIdentity: recognises a file, without reading it, as the one that was read before.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/result.h"

namespace latebind::platform {

// Times are nanoseconds since 1970 (Linux) or 1601 (Windows). A program can set the first one back, as tools that
// preserve times do; it cannot set the second.
struct FileIdentity {
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  // of the content, or of the file's metadata: owner, permissions, links
  std::uint64_t file = 0;       // the file's number on its device
  std::uint64_t device = 0;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

// Returns the identity of a file; links are followed. Errors: kNotFound, kPermissionDenied, kIo; kInvalidArgument for
// anything but a regular file. May be called from any thread.
[[nodiscard]] core::Result<FileIdentity> file_identity(const std::filesystem::path& file);

// Returns the nanoseconds since the later of the file's times, by the system's clock; negative when a time is in the
// future.
[[nodiscard]] std::int64_t age_ns(const FileIdentity& identity);

}  // namespace latebind::platform
