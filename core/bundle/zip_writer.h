// Writes a ZIP whose entries can be used directly from a mapping: they are stored, and the data of each begins at a
// multiple of 4096. The padding is an extra field in the local headers, as Android's zipalign writes it, so every ZIP
// reader can read the file. Times, modes and versions are fixed: the same input gives the same bytes.
//
// May be called from any thread. Several calls may write the same place at once; the last one wins as a whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/result.h"

namespace latebind::core {

// A file, whose content is the parts one after the other; or an empty folder if the name ends in a slash.
struct ZipInput {
  std::string name;
  std::vector<SharedBytes> parts{};
};

struct ZipWriteOptions {
  // Writes Zip64 records even for small numbers, so that tests need not write 4 GiB.
  bool always_zip64 = false;
};

struct ZipRecord;  // what the headers say about an entry

// A ZIP that is not written yet. Its size is known before its first byte, so it can be embedded in a larger file, where
// it should begin at a multiple of 4096. Keeps alive what its entries refer to. Immutable; may be used from any thread.
class ZipImage {
 public:
  // Makes the layout, for which it reads every entry once. kInvalidArgument for names that path_rules.h rejects, and
  // for more than a reader would accept.
  static Result<ZipImage> lay_out(std::vector<ZipInput> entries, const ZipWriteOptions& options = {});

  ZipImage(ZipImage&& other) noexcept;
  ZipImage& operator=(ZipImage&& other) noexcept;
  ZipImage(const ZipImage&) = delete;
  ZipImage& operator=(const ZipImage&) = delete;
  ~ZipImage();

  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Passes every byte to `sink`, in order. The first error of `sink` stops this and is returned.
  using Sink = std::function<Status(std::span<const std::byte> bytes)>;
  [[nodiscard]] Status write(const Sink& sink) const;

 private:
  ZipImage();

  std::vector<ZipInput> entries_;
  std::vector<ZipRecord> records_;  // describe entries_, and refer to their names
  std::string end_;                 // the directory and what follows it
  std::uint64_t size_ = 0;
};

// Writes the entries in their order, to a temporary file that is renamed: after an error, or if the process is killed
// at any moment, the place keeps what it had. Also removes temporary files that killed writers left in the folder and
// that are at least a minute old. Fails as OutputFile does, and with the error of `may_replace`, which is called before
// the rename; kInvalidArgument for names that path_rules.h rejects, and for more than a reader would accept.
[[nodiscard]] Status write_zip(const std::filesystem::path& file, std::span<const ZipInput> entries,
                               const ZipWriteOptions& options = {}, const std::function<Status()>& may_replace = {});

}  // namespace latebind::core
