// ZipReader: the entries of a ZIP in memory (usually a mapped file), used in place.
//
// Strict, because it reads untrusted bytes and two readers must never see two different archives in one file: entries
// are stored, not compressed; neither encrypted nor split nor followed by a descriptor; their local headers match the
// directory; they fill the file from its first byte to the directory, and the directory to its end, without overlap,
// gap, comment or anything after; names obey path_rules.h; no links. Zip64 is read. Opening touches the directory and
// the headers, no data.
//
// Immutable after it is opened; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model.h"
#include "core/result.h"

namespace latebind::core {

struct ZipEntry {
  std::string name;
  std::uint64_t offset = 0;  // of its data in the file
  std::uint64_t size = 0;
  std::uint32_t crc32 = 0;
};

// True when the bytes begin like a ZIP.
[[nodiscard]] bool looks_like_zip(std::span<const std::byte> bytes);

class ZipReader {
 public:
  // kInvalidModel with `name` (the file's), what is wrong and where.
  static Result<ZipReader> open(SharedBytes bytes, std::string name);

  // The files, sorted by name.
  [[nodiscard]] std::span<const ZipEntry> entries() const { return entries_; }
  // The folders that have an entry of their own, sorted, without the slash.
  [[nodiscard]] std::span<const std::string> folders() const { return folders_; }
  // Null when there is no file of this name.
  [[nodiscard]] const ZipEntry* find(std::string_view name) const;
  // True when a file is below `path`, or the archive has an entry for the folder; "" is the root, which always exists.
  [[nodiscard]] bool has_folder(std::string_view path) const;

  // The entry's data: a slice of the file, which stays alive as long as the slice.
  [[nodiscard]] SharedBytes bytes_of(const ZipEntry& entry) const;
  // Reads the entry and compares it with its sum. kInvalidModel.
  [[nodiscard]] Status check(const ZipEntry& entry) const;

 private:
  ZipReader() = default;

  SharedBytes bytes_;
  std::string name_;
  std::vector<ZipEntry> entries_;
  std::vector<std::string> folders_;
};

}  // namespace latebind::core
