// FileDigests: SHA-256 digests of files, remembered in a small memory file. A file is recognised without reading it, by
// its path, size, change time, inode and device, so a model of several gigabytes is hashed once and not at every start.
//
// The memory file is bounded and has a checksum; if it is damaged or cannot be written, files are hashed again. It is
// not trusted if another user could have written it. A file that was changed less than two seconds before it was hashed
// is not remembered, because it could change again undetected.
//
// All functions may be called from any thread, and several processes may use one memory file at once.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "core/model/model.h"
#include "core/platform/files/file_identity.h"
#include "core/result.h"
#include "core/threads/mutex.h"

namespace latebind::core {

class FileDigests {
 public:
  static constexpr std::size_t kFilesMax = 1000;

  // A file must have been unchanged for this long before its digest is remembered: file systems store times in steps of
  // up to two seconds.
  static constexpr std::chrono::nanoseconds kSettled{2'000'000'000};

  // Opens no file.
  explicit FileDigests(std::filesystem::path memory, std::chrono::nanoseconds settled = kSettled)
      : memory_(std::move(memory)), settled_(settled) {}

  // Returns false for a file that could change again without a visible difference.
  [[nodiscard]] bool is_settled(const platform::FileIdentity& identity) const {
    return platform::age_ns(identity) >= settled_.count();
  }

  // Returns the digest if it is remembered, or if the file is so small that hashing it takes no time. Otherwise
  // kNotFound, or the error of examining the file.
  [[nodiscard]] Result<std::string> known(const std::filesystem::path& file);

  // Computes and remembers the digest of the present content. Use it instead of known() where the bytes matter: a write
  // through a mapping changes a file without changing what identifies it. kIo when the file changes meanwhile.
  [[nodiscard]] Result<std::string> compute(const std::filesystem::path& file);

  // Whether the memory file was written by Latebind, or is missing. Any other file of that name is neither read nor
  // written.
  [[nodiscard]] bool is_ours() const;

 private:
  struct Remembered {
    platform::FileIdentity identity;
    std::string digest;
    std::uint64_t order = 0;  // larger is more recent
  };
  using Files = std::map<std::string, Remembered>;  // by canonical path

  [[nodiscard]] std::optional<std::string> remembered(const std::optional<std::string>& name,
                                                      const platform::FileIdentity& identity);
  void remember(const std::optional<std::string>& name, const platform::FileIdentity& identity,
                const std::string& digest);
  [[nodiscard]] Files read() const LB_REQUIRES(mutex_);
  void write(const Files& files) const LB_REQUIRES(mutex_);

  const std::filesystem::path memory_;
  const std::chrono::nanoseconds settled_;
  Mutex mutex_;  // held while memory_ is read and written
};

}  // namespace latebind::core
