// FileReader: a file of which pieces are read when they are needed. A mapped file that is cut meanwhile ends the
// process when what is missing is touched; here it is an error.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

#include "core/platform/files/file_identity.h"
#include "core/result.h"

namespace latebind::platform {

// Any thread.
class FileReader {
 public:
  // The file that had this identity, whatever was written to it since, if that is what the name still leads to:
  // kNotFound, kPermissionDenied, kIo. Somebody must have it open or mapped: its number might be another one's, else.
  // kUnsupported on Windows, where the system cuts no file that is mapped.
  static core::Result<std::unique_ptr<const FileReader>> open(const std::filesystem::path& file,
                                                              const FileIdentity& identity);
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;
  ~FileReader();

  // The bytes from the offset on. False when not all of them can be read, and from then on: what the file has later may
  // be another's. Allocates nothing.
  [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> to) const noexcept;
  // Why not, once that was so.
  [[nodiscard]] core::Status why_not() const;

 private:
  FileReader(std::filesystem::path file, std::intptr_t handle) : file_(std::move(file)), handle_(handle) {}

  const std::filesystem::path file_;
  const std::intptr_t handle_;
  // 0 while all is well, an errno, or -1 when the file ended.
  mutable std::atomic<int> failure_{0};
};

}  // namespace latebind::platform
