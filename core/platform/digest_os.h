// DigestEngine: a digest as the system's library computes it, the only part of digests that differs between systems.
// Internal to core/platform; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/platform/digest.h"

namespace latebind::platform {

class DigestEngine {
 public:
  // Throws std::bad_alloc, or std::runtime_error when the library does not have the digest, because a wrong digest
  // would be worse than no program.
  explicit DigestEngine(DigestKind kind);
  DigestEngine(const DigestEngine&) = delete;
  DigestEngine& operator=(const DigestEngine&) = delete;
  ~DigestEngine();

  void update(const std::byte* data, std::size_t size);
  // Returns the digest. Called once, as the last call.
  [[nodiscard]] std::vector<std::uint8_t> finish();

 private:
  void* context_ = nullptr;
  std::size_t size_;  // of the digest, in bytes
};

}  // namespace latebind::platform
