// FileDigests: SHA-256 of files, remembered in a small file by what identifies each without reading it (path, size,
// change time, inode, device), so that a model of gigabytes is hashed once and not at every start.
//
// What is remembered is bounded and has a checksum; when it is damaged or cannot be written, files are hashed again. A
// file that was changed less than two seconds before it was hashed is not remembered: it could change again undetected.
// Nor is the small file trusted if another user could have written it. Thread-safe; several processes may use one place
// at once.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/model.h"
#include "core/platform/files/file_identity.h"
#include "core/result.h"

namespace latebind::core {

class FileDigests {
 public:
  static constexpr std::size_t kFilesMax = 1000;

  // How long ago a file must have been changed: file systems store times in steps of up to two seconds.
  static constexpr std::chrono::nanoseconds kSettled{2'000'000'000};

  // Opens nothing.
  explicit FileDigests(std::filesystem::path memory, std::chrono::nanoseconds settled = kSettled)
      : memory_(std::move(memory)), settled_(settled) {}

  // False for a file that could change again and look the same.
  [[nodiscard]] bool is_settled(const platform::FileIdentity& identity) const {
    return platform::age_ns(identity) >= settled_.count();
  }

  // The digest if it is remembered, or if the file is so small that hashing it takes no time; kNotFound otherwise. The
  // errors of examining the file.
  [[nodiscard]] Result<std::string> known(const std::filesystem::path& file);

  // The digest of the present content, computed, and remembered: writing through a mapping changes a file without
  // changing what identifies it. kIo when the file is found to change meanwhile.
  [[nodiscard]] Result<std::string> compute(const std::filesystem::path& file);

  // Whether the small file was written by Latebind, or is missing. Any other file of that name is neither read nor
  // written.
  [[nodiscard]] bool is_ours() const;

 private:
  struct Remembered {
    platform::FileIdentity identity;
    std::string digest;
    std::uint64_t order = 0;  // the larger, the younger
  };
  using Files = std::map<std::string, Remembered>;  // by canonical path

  [[nodiscard]] std::optional<std::string> remembered(const std::optional<std::string>& name,
                                                      const platform::FileIdentity& identity);
  void remember(const std::optional<std::string>& name, const platform::FileIdentity& identity,
                const std::string& digest);
  [[nodiscard]] Files read() const;
  void write(const Files& files) const;

  const std::filesystem::path memory_;
  const std::chrono::nanoseconds settled_;
  std::mutex mutex_;  // held while memory_ is read and written
};

}  // namespace latebind::core
