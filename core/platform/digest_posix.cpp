#include <openssl/evp.h>

#include <new>
#include <stdexcept>

#include "core/platform/digest_os.h"

namespace latebind::platform {
namespace {

EVP_MD_CTX* context_of(void* context) {
  return static_cast<EVP_MD_CTX*>(context);
}

}  // namespace

Sha256Engine::Sha256Engine() : context_(EVP_MD_CTX_new()) {
  if (context_ == nullptr) throw std::bad_alloc();
  if (EVP_DigestInit_ex(context_of(context_), EVP_sha256(), nullptr) != 1) {
    EVP_MD_CTX_free(context_of(context_));
    throw std::runtime_error("OpenSSL's libcrypto refuses SHA-256");
  }
}

Sha256Engine::~Sha256Engine() {
  EVP_MD_CTX_free(context_of(context_));
}

void Sha256Engine::update(const std::byte* data, std::size_t size) {
  if (EVP_DigestUpdate(context_of(context_), data, size) != 1) {
    throw std::runtime_error("OpenSSL's libcrypto failed in SHA-256");
  }
}

std::array<std::uint8_t, 32> Sha256Engine::finish() {
  std::array<std::uint8_t, 32> digest{};
  unsigned size = 0;
  if (EVP_DigestFinal_ex(context_of(context_), digest.data(), &size) != 1 || size != digest.size()) {
    throw std::runtime_error("OpenSSL's libcrypto failed in SHA-256");
  }
  return digest;
}

}  // namespace latebind::platform
