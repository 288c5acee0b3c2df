// PartReader: reads pieces of a part of a file with read calls instead of through a mapping. If the file is truncated
// meanwhile, reading fails; an access through a mapping would end the process. It never stores the whole of
// bytes that are computed when they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/platform/files/file_reader.h"
#include "core/status.h"
#include "core/tensor/shared_bytes.h"

namespace latebind::core {

// May be used from any thread.
class PartReader {
 public:
  // Opens the file of the part. If the part has no file, if its name now leads to another file, or if the system does
  // not let mapped files be truncated, the reader uses the part's bytes in memory and shares their ownership.
  explicit PartReader(const FilePart& part);

  // Reads the bytes from `offset` in the part on, which must be inside the part. Returns false if they cannot be read,
  // and from then on. Allocates nothing.
  [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> to) const noexcept;
  // Return whether the bytes from `offset` on are computed from numbers of four bits (ComputedBytes), and read those.
  [[nodiscard]] bool has_four_bits(std::uint64_t offset, std::uint64_t size) const noexcept;
  [[nodiscard]] bool read_four_bits(std::uint64_t offset, std::span<FourBitGroup> to) const noexcept;
  // The error after read() or read_four_bits() has returned false.
  [[nodiscard]] Status why_not() const;
  // Returns all bytes of the part if the reader uses them in memory; otherwise std::nullopt.
  [[nodiscard]] std::optional<std::span<const std::byte>> in_memory() const;

 private:
  std::unique_ptr<const platform::FileReader> file_;  // null when bytes_ is used
  std::uint64_t offset_ = 0;                          // of the part in the file
  SharedBytes bytes_;
  std::shared_ptr<const ComputedBytes> computed_;  // used instead of both, if set
};

}  // namespace latebind::core
