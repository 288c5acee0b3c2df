// Writes a ZIP whose entries can be used directly from a mapping of it: stored, and the data of each begins at a
// multiple of 4096. The padding is an extra field in the local headers, as Android's zipalign writes it, so that every
// reader of ZIPs reads the file. Times, modes and versions are fixed: the same input gives the same bytes.
//
// Any thread; several may write the same place at once, and the last one wins completely.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/model.h"
#include "core/result.h"

namespace latebind::core {

// A file (its content is the parts, one after the other), or an empty folder when the name ends in a slash.
struct ZipInput {
  std::string name;
  std::vector<SharedBytes> parts{};
};

struct ZipWriteOptions {
  // Writes Zip64 records even for small numbers, so that tests need not write 4 GiB.
  bool always_zip64 = false;
};

struct ZipRecord;  // what the headers say about an entry

// A ZIP that is not written yet: its size is known before its first byte, for embedding it in a larger file. It should
// begin there at a multiple of 4096. Keeps alive what its entries refer to. Immutable; any thread.
class ZipImage {
 public:
  // kInvalidArgument for names that path_rules.h refuses, and for more than a reader would read. Reads every entry
  // once.
  static Result<ZipImage> lay_out(std::vector<ZipInput> entries, const ZipWriteOptions& options = {});

  ZipImage(ZipImage&& other) noexcept;
  ZipImage& operator=(ZipImage&& other) noexcept;
  ZipImage(const ZipImage&) = delete;
  ZipImage& operator=(const ZipImage&) = delete;
  ~ZipImage();

  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Passes every byte to `sink`, in order; its first error stops this and is returned.
  using Sink = std::function<Status(std::span<const std::byte> bytes)>;
  [[nodiscard]] Status write(const Sink& sink) const;

 private:
  ZipImage();

  std::vector<ZipInput> entries_;
  std::vector<ZipRecord> records_;  // of entries_, whose names they refer to
  std::string end_;                 // the directory and what follows it
  std::uint64_t size_ = 0;
};

// Writes the entries in their order, by temporary file and rename: after an error, or killed at any moment, the place
// keeps what it had. Temporary files that killed writers left in the folder a minute ago or earlier are removed. The
// errors of OutputFile and of `may_replace`, which is asked before the rename; kInvalidArgument for names that
// path_rules.h refuses, and for more than a reader would read.
[[nodiscard]] Status write_zip(const std::filesystem::path& file, std::span<const ZipInput> entries,
                               const ZipWriteOptions& options = {}, const std::function<Status()>& may_replace = {});

}  // namespace latebind::core
