// Digests. SHA-256 by the platform's library (OpenSSL's libcrypto; CNG on Windows). An object belongs to one thread at
// a time; the functions may be called from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

namespace latebind::platform {

// Incremental SHA-256.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);
  // 64 lower-case hexadecimal digits; the object is used up, and a second call gives an empty text.
  [[nodiscard]] std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] std::string sha256_hex(std::span<const std::byte> bytes);
// Reads the file once, in small blocks. The errors of MappedFile::open.
[[nodiscard]] core::Result<std::string> sha256_hex_of_file(const std::filesystem::path& file);

}  // namespace latebind::platform
