// Digests, computed by the platform's library (OpenSSL's libcrypto; CNG on Windows). An object belongs to one thread at
// a time; the functions may be called from any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

namespace latebind::platform {

enum class DigestKind { kSha256, kSha1 };

[[nodiscard]] constexpr std::size_t digest_bytes(DigestKind kind) {
  return kind == DigestKind::kSha256 ? 32 : 20;
}

// An incremental digest.
class Digest {
 public:
  explicit Digest(DigestKind kind);
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;
  ~Digest();

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);
  // Returns lower-case hexadecimal digits. The object is then used up, and a second call returns an empty text.
  [[nodiscard]] std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// SHA-256, 64 hexadecimal digits.
class Sha256 : public Digest {
 public:
  Sha256() : Digest(DigestKind::kSha256) {}
};

[[nodiscard]] std::string sha256_hex(std::span<const std::byte> bytes);
// Reads the file once, in small blocks. Fails as MappedFile::open() does.
[[nodiscard]] core::Result<std::string> sha256_hex_of_file(const std::filesystem::path& file);

// Returns git's object name for a file of this content: the SHA-1 of its size and its bytes, 40 digits. Use it to
// detect damage, not for trust, because SHA-1 can be forged. Fails as MappedFile::open() does.
[[nodiscard]] core::Result<std::string> git_blob_name_of_file(const std::filesystem::path& file);

}  // namespace latebind::platform
