// SHA-256 as the system's library does it: the one part of digests that differs from system to system. Internal to
// core/platform; one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace latebind::platform {

class Sha256Engine {
 public:
  // Throws std::bad_alloc or std::runtime_error when the library has no SHA-256 to give: a digest that is made up would
  // be worse than no program.
  Sha256Engine();
  Sha256Engine(const Sha256Engine&) = delete;
  Sha256Engine& operator=(const Sha256Engine&) = delete;
  ~Sha256Engine();

  void update(const std::byte* data, std::size_t size);
  // Once, and nothing after it.
  [[nodiscard]] std::array<std::uint8_t, 32> finish();

 private:
  void* context_ = nullptr;
};

}  // namespace latebind::platform
