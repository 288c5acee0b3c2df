// PartReader: pieces of a file's part, read and not looked at in its mapping: where the file is cut meanwhile, that is
// an error, and not the end of the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/platform/files/file_reader.h"
#include "core/shared_bytes.h"
#include "core/status.h"

namespace latebind::core {

// Any thread.
class PartReader {
 public:
  // Reads the part's file. Where there is none, its name leads to another one now, or the system cuts no file that is
  // mapped, it reads the part's bytes, of which it is an owner then.
  explicit PartReader(const FilePart& part);

  // The bytes from an offset in the part on, where it has as many. False when they cannot be read, and from then on.
  // Allocates nothing.
  [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> to) const noexcept;
  // Why not, once that was so.
  [[nodiscard]] Status why_not() const;
  // All bytes of the part, where that is what is read.
  [[nodiscard]] std::optional<std::span<const std::byte>> in_memory() const;

 private:
  std::unique_ptr<const platform::FileReader> file_;  // null: bytes_
  std::uint64_t offset_ = 0;                          // of the part in it
  SharedBytes bytes_;
};

}  // namespace latebind::core
