#include <algorithm>
#include <limits>
#include <stdexcept>

#include "core/platform/windows_error.h"
// bcrypt.h needs the types of windows.h.
#include <bcrypt.h>

#include "core/platform/digest_os.h"

namespace latebind::platform {

Sha256Engine::Sha256Engine() {
  BCRYPT_ALG_HANDLE algorithm = nullptr;
  BCRYPT_HASH_HANDLE hash = nullptr;
  if (::BCryptOpenAlgorithmProvider(&algorithm, BCRYPT_SHA256_ALGORITHM, nullptr, 0) != 0) {
    throw std::runtime_error("Windows CNG has no SHA-256");
  }
  const bool made = ::BCryptCreateHash(algorithm, &hash, nullptr, 0, nullptr, 0, 0) == 0;
  // The hash keeps what it needs of its provider.
  ::BCryptCloseAlgorithmProvider(algorithm, 0);
  if (!made) throw std::runtime_error("Windows CNG refuses SHA-256");
  context_ = hash;
}

Sha256Engine::~Sha256Engine() {
  ::BCryptDestroyHash(context_);
}

void Sha256Engine::update(const std::byte* data, std::size_t size) {
  while (size > 0) {
    const auto count = static_cast<ULONG>(std::min<std::size_t>(size, std::numeric_limits<ULONG>::max()));
    // BCryptHashData only reads, whatever its signature says.
    auto* const bytes = reinterpret_cast<PUCHAR>(const_cast<std::byte*>(data));
    if (::BCryptHashData(context_, bytes, count, 0) != 0) throw std::runtime_error("Windows CNG failed in SHA-256");
    data += count;
    size -= count;
  }
}

std::array<std::uint8_t, 32> Sha256Engine::finish() {
  std::array<std::uint8_t, 32> digest{};
  if (::BCryptFinishHash(context_, digest.data(), static_cast<ULONG>(digest.size()), 0) != 0) {
    throw std::runtime_error("Windows CNG failed in SHA-256");
  }
  return digest;
}

}  // namespace latebind::platform
