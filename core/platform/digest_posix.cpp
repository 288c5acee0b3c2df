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

DigestEngine::DigestEngine(DigestKind kind) : context_(EVP_MD_CTX_new()), size_(digest_bytes(kind)) {
  if (context_ == nullptr) throw std::bad_alloc();
  const EVP_MD* algorithm = kind == DigestKind::kSha256 ? EVP_sha256() : EVP_sha1();
  if (EVP_DigestInit_ex(context_of(context_), algorithm, nullptr) != 1) {
    EVP_MD_CTX_free(context_of(context_));
    throw std::runtime_error("OpenSSL's libcrypto cannot start a digest");
  }
}

DigestEngine::~DigestEngine() {
  EVP_MD_CTX_free(context_of(context_));
}

void DigestEngine::update(const std::byte* data, std::size_t size) {
  if (EVP_DigestUpdate(context_of(context_), data, size) != 1) {
    throw std::runtime_error("OpenSSL's libcrypto failed to compute a digest");
  }
}

std::vector<std::uint8_t> DigestEngine::finish() {
  std::vector<std::uint8_t> digest(EVP_MAX_MD_SIZE);
  unsigned size = 0;
  if (EVP_DigestFinal_ex(context_of(context_), digest.data(), &size) != 1 || size != size_) {
    throw std::runtime_error("OpenSSL's libcrypto failed to compute a digest");
  }
  digest.resize(size);
  return digest;
}

}  // namespace latebind::platform
