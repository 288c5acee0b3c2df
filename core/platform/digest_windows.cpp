#include <algorithm>
#include <limits>
#include <stdexcept>

#include "core/platform/windows_error.h"
// bcrypt.h needs the types of windows.h.
#include <bcrypt.h>

#include "core/platform/digest_os.h"

namespace latebind::platform {

DigestEngine::DigestEngine(DigestKind kind) : size_(digest_bytes(kind)) {
  BCRYPT_ALG_HANDLE algorithm = nullptr;
  BCRYPT_HASH_HANDLE hash = nullptr;
  const wchar_t* const name = kind == DigestKind::kSha256 ? BCRYPT_SHA256_ALGORITHM : BCRYPT_SHA1_ALGORITHM;
  if (::BCryptOpenAlgorithmProvider(&algorithm, name, nullptr, 0) != 0) {
    throw std::runtime_error("Windows CNG has no such digest");
  }
  const bool made = ::BCryptCreateHash(algorithm, &hash, nullptr, 0, nullptr, 0, 0) == 0;
  // The hash keeps what it needs of its provider.
  ::BCryptCloseAlgorithmProvider(algorithm, 0);
  if (!made) throw std::runtime_error("Windows CNG cannot start a digest");
  context_ = hash;
}

DigestEngine::~DigestEngine() {
  ::BCryptDestroyHash(context_);
}

void DigestEngine::update(const std::byte* data, std::size_t size) {
  while (size > 0) {
    const auto count = static_cast<ULONG>(std::min<std::size_t>(size, std::numeric_limits<ULONG>::max()));
    // BCryptHashData only reads, despite its signature.
    auto* const bytes = reinterpret_cast<PUCHAR>(const_cast<std::byte*>(data));
    if (::BCryptHashData(context_, bytes, count, 0) != 0)
      throw std::runtime_error("Windows CNG failed to compute a digest");
    data += count;
    size -= count;
  }
}

std::vector<std::uint8_t> DigestEngine::finish() {
  std::vector<std::uint8_t> digest(size_);
  if (::BCryptFinishHash(context_, digest.data(), static_cast<ULONG>(digest.size()), 0) != 0) {
    throw std::runtime_error("Windows CNG failed to compute a digest");
  }
  return digest;
}

}  // namespace latebind::platform
