// Shared bytes: memory that lives as long as it is referenced, and where it comes from. Values; any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "core/platform/files/file_identity.h"
#include "core/platform/files/mapped_file.h"
#include "core/result.h"

namespace latebind::core {

// Bytes with a shared owner: a mapped file, a buffer, a slice of either.
struct SharedBytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;

  static SharedBytes from_string(std::string text);
};

// Bytes that are a mapping of a part of a file, or of all of it; `where` names no file when they are in memory.
struct FilePart {
  platform::FileRange where{};
  platform::FileIdentity identity{};  // of the mapped file, whatever file has its name now
  SharedBytes bytes{};

  // All of it.
  static FilePart of(std::shared_ptr<const platform::MappedFile> mapped);
  // Maps it; the errors of MappedFile::open().
  static Result<FilePart> open(const std::filesystem::path& file);
};

}  // namespace latebind::core
