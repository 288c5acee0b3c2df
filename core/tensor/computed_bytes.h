// ComputedBytes: bytes that are computed when they are read, such as weights that a file stores quantized. read()
// computes a part without storing the whole; bytes() is for callers that need all bytes in memory. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "core/status.h"

namespace latebind::core {

// 32 consecutive numbers in f32 whose source has four bits for each: number i is least + step · q, where q is the low
// half of codes[i] for i < 16, and the high half of codes[i - 16] for the others.
struct FourBitGroup {
  static constexpr std::size_t kNumbers = 32;
  float step = 0;
  float least = 0;
  std::array<std::uint8_t, kNumbers / 2> codes{};
};

class ComputedBytes {
 public:
  ComputedBytes(const ComputedBytes&) = delete;
  ComputedBytes& operator=(const ComputedBytes&) = delete;
  virtual ~ComputedBytes();

  // Computes the bytes from `offset` on into `to`; they must lie inside. Returns false if their source cannot be read,
  // and in all later calls. Allocates no memory.
  [[nodiscard]] virtual bool read(std::uint64_t offset, std::span<std::byte> to) const noexcept = 0;
  // Returns whether the bytes from `offset` on are whole groups for read_four_bits().
  [[nodiscard]] virtual bool has_four_bits(std::uint64_t /*offset*/, std::uint64_t /*size*/) const noexcept {
    return false;
  }
  // Like read(), for the groups of bytes for which has_four_bits() is true.
  [[nodiscard]] virtual bool read_four_bits(std::uint64_t /*offset*/, std::span<FourBitGroup> /*to*/) const noexcept {
    return false;
  }
  // Returns the error after read() or read_four_bits() has returned false.
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
