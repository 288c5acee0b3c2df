// ZipReader: the entries of a ZIP in memory (usually a mapped file), used in place.
//
// It is strict, because it reads untrusted bytes and two readers must never see two different archives in one file.
// Entries must be stored, not compressed, and be neither encrypted nor split nor followed by a descriptor. Their local
// headers must match the directory. They must fill the file from its first byte to the directory, and the directory the
// rest, without overlap, gap, comment or trailing bytes. Names must obey path_rules.h, and links are rejected. Zip64 is
// read. Opening touches the directory and the headers, but no data.
//
// Immutable after it is opened; may be used from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.h"
#include "core/result.h"

namespace latebind::core {

struct ZipEntry {
  std::string name;
  std::uint64_t offset = 0;  // of its data in the file
  std::uint64_t size = 0;
  std::uint32_t crc32 = 0;
};

// Whether the bytes begin like a ZIP.
[[nodiscard]] bool looks_like_zip(std::span<const std::byte> bytes);

class ZipReader {
 public:
  // Opens a ZIP. kInvalidModel with `name` (the file's), what is wrong and where.
  static Result<ZipReader> open(SharedBytes bytes, std::string name);

  // The files, sorted by name.
  [[nodiscard]] std::span<const ZipEntry> entries() const { return entries_; }
  // The folders that have their own entry, sorted, without the slash.
  [[nodiscard]] std::span<const std::string> folders() const { return folders_; }
  // Returns null when there is no file of this name.
  [[nodiscard]] const ZipEntry* find(std::string_view name) const;
  // Whether a file is below `path` or the archive has an entry for the folder; "" is the root, which always exists.
  [[nodiscard]] bool has_folder(std::string_view path) const;

  // Returns the entry's data: a slice that keeps the file alive.
  [[nodiscard]] SharedBytes bytes_of(const ZipEntry& entry) const;
  // Reads the entry and compares it with its checksum. kInvalidModel when they differ.
  [[nodiscard]] Status check(const ZipEntry& entry) const;

 private:
  ZipReader() = default;

  SharedBytes bytes_;
  std::string name_;
  std::vector<ZipEntry> entries_;
  std::vector<std::string> folders_;
};

}  // namespace latebind::core
