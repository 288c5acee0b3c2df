// ComputedBytes: bytes that are computed when they are read, such as weights that a file stores quantized. read()
// computes a part without storing the whole; bytes() is for callers that need all bytes in memory. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "core/status.h"

namespace latebind::core {

class ComputedBytes {
 public:
  ComputedBytes(const ComputedBytes&) = delete;
  ComputedBytes& operator=(const ComputedBytes&) = delete;
  virtual ~ComputedBytes();

  // Computes the bytes from `offset` on into `to`; they must lie inside. Returns false if their source cannot be read,
  // and in all later calls. Allocates no memory.
  [[nodiscard]] virtual bool read(std::uint64_t offset, std::span<std::byte> to) const noexcept = 0;
  // Returns the error after read() has returned false.
  [[nodiscard]] virtual Status why_not() const = 0;

  // Returns the memory of all bytes, which this object owns. It may be accessed only after fill().
  [[nodiscard]] std::span<const std::byte> bytes() const { return {memory_.get(), size_}; }
  // Computes all bytes, once.
  void fill() const;

 protected:
  // Throws std::bad_alloc.
  explicit ComputedBytes(std::size_t size);
  // Computes the whole of bytes().
  virtual void compute_all(std::span<std::byte> to) const = 0;

 private:
  std::size_t size_;
  std::unique_ptr<std::byte[]> memory_;  // uninitialised, so that the system provides it when it is written
  mutable std::once_flag filled_;
};

}  // namespace latebind::core
