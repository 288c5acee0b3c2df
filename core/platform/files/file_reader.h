// FileReader: reads pieces of a file when they are needed. If a mapped file is truncated, an access to the missing part
// ends the process; here it is an error.
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

// May be used from any thread.
class FileReader {
 public:
  // Opens the file that had this identity, if the name still leads to it, even if it was written to since. The caller
  // must have the file open or mapped, because otherwise its number might now be another file's. Errors: kNotFound,
  // kPermissionDenied, kIo; kUnsupported on Windows, which does not truncate mapped files.
  static core::Result<std::unique_ptr<const FileReader>> open(const std::filesystem::path& file,
                                                              const FileIdentity& identity);
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;
  ~FileReader();

  // Reads the bytes from `offset` on. Returns false if it cannot read all of them, and from then on, because the file's
  // later content may be a different one. Allocates nothing.
  [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> to) const noexcept;
  // Returns the error after read() has returned false.
  [[nodiscard]] core::Status why_not() const;

 private:
  FileReader(std::filesystem::path file, std::intptr_t handle) : file_(std::move(file)), handle_(handle) {}

  const std::filesystem::path file_;
  const std::intptr_t handle_;
  // 0 without a failure; an errno; or -1 when the file ended.
  mutable std::atomic<int> failure_{0};
};

}  // namespace latebind::platform
