// Shared bytes: memory that lives as long as it is referenced, and where it comes from. Values, for any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "core/platform/files/file_identity.h"
#include "core/platform/files/mapped_file.h"
#include "core/result.h"
#include "core/tensor/computed_bytes.h"

namespace latebind::core {

// Bytes with a shared owner: a mapped file, a buffer, a slice of either.
struct SharedBytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;

  // Makes bytes that own the text.
  static SharedBytes from_string(std::string text);
};

// Bytes that map a part of a file, or all of it. `where` names no file when the bytes are only in memory.
struct FilePart {
  platform::FileRange where{};
  platform::FileIdentity identity{};  // of the mapped file, even if its name now leads to another one
  SharedBytes bytes{};
  // Set if the bytes are computed when they are read. Before fill(), only the size of `bytes` is valid then.
  std::shared_ptr<const ComputedBytes> computed = nullptr;

  void fill() const {
    if (computed) computed->fill();
  }

  // All bytes of a mapped file.
  static FilePart of(std::shared_ptr<const platform::MappedFile> mapped);
  static FilePart of(std::shared_ptr<const ComputedBytes> computed);
  // Maps the whole file. Fails as MappedFile::open() does.
  static Result<FilePart> open(const std::filesystem::path& file);
};

}  // namespace latebind::core
