// FileDigests: SHA-256 of files, remembered in a small file by what identifies each without reading it (path, size,
// time of change, number, device), so that a model of gigabytes is hashed once and not at every start.
//
// What is remembered is bounded and carries a sum; when it is damaged or can not be written, files are hashed again. A
// file that was changed less than two seconds before it was hashed is not remembered: it could change again without
// being told apart. Thread-safe; several processes may use one place at once.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/platform/file_identity.h"
#include "core/result.h"

namespace latebind::core {

class FileDigests {
 public:
  static constexpr std::size_t kFilesMax = 1000;

  // Opens nothing.
  explicit FileDigests(std::filesystem::path memory) : memory_(std::move(memory)) {}

  // The digest if it is remembered, or if the file is so small that hashing it takes no time; kNotFound otherwise. The
  // errors of looking at the file.
  [[nodiscard]] Result<std::string> known(const std::filesystem::path& file);

  // The digest, computed if need be, and remembered. kIo when the file changes meanwhile.
  [[nodiscard]] Result<std::string> of(const std::filesystem::path& file);

  // Whether the small file is one of ours, or not there. Another one of that name is neither read nor written.
  [[nodiscard]] bool is_ours() const;

 private:
  struct Remembered {
    platform::FileIdentity identity;
    std::string digest;
    std::uint64_t order = 0;  // the larger, the younger
  };
  using Files = std::map<std::string, Remembered>;  // by canonical path

  [[nodiscard]] std::optional<std::string> remembered(const std::filesystem::path& file,
                                                      const platform::FileIdentity& identity);
  void remember(const std::filesystem::path& file, const platform::FileIdentity& identity, const std::string& digest);
  [[nodiscard]] Files read() const;
  void write(const Files& files) const;

  const std::filesystem::path memory_;
  std::mutex mutex_;  // held while memory_ is read and written
};

}  // namespace latebind::core
