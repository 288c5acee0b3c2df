#include "core/platform/digest.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "core/platform/digest_os.h"
#include "core/platform/os_error.h"

namespace latebind::platform {

using core::Status;
using core::StatusCode;

struct Digest::State {
  explicit State(DigestKind kind) : engine(kind) {}
  DigestEngine engine;
};

Digest::Digest(DigestKind kind) : state_(std::make_unique<State>(kind)) {}
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;
Digest::~Digest() = default;

void Digest::update(std::span<const std::byte> bytes) {
  if (state_ != nullptr && !bytes.empty()) state_->engine.update(bytes.data(), bytes.size());
}

void Digest::update(std::string_view text) {
  update(std::as_bytes(std::span(text)));
}

std::string Digest::hex() {
  if (state_ == nullptr) return {};
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(64);
  for (const std::uint8_t byte : state_->engine.finish()) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0x0f];
  }
  state_.reset();
  return text;
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 digest;
  digest.update(bytes);
  return digest.hex();
}

namespace {

core::Status check_regular(const std::filesystem::path& file) {
  LB_RETURN_IF_ERROR(check_path("read", file));
  std::error_code error;
  const auto kind = std::filesystem::status(file, error).type();
  if (kind == std::filesystem::file_type::not_found) return status_of_errno("read", file, ENOENT);
  if (kind == std::filesystem::file_type::none) {
    return status_of_errno("read", file, error.default_error_condition().value());
  }
  if (kind != std::filesystem::file_type::regular) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("cannot read {}: {}", quoted(file),
                              kind == std::filesystem::file_type::directory ? "it is a folder, not a file"
                                                                            : "it is not a regular file"));
  }
  return Status();
}

// The file is read instead of mapped: a model file of several gigabytes would count as this process's memory, and one
// that is truncated meanwhile would kill it.
core::Result<std::string> hex_of_file(Digest digest, const std::filesystem::path& file) {
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return status_of_errno("read", file, errno != 0 ? errno : EIO);
  std::vector<char> block(std::size_t{256} * 1024);
  while (stream) {
    errno = 0;
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    if (stream.bad()) return status_of_errno("read", file, errno != 0 ? errno : EIO);
    digest.update(std::string_view(block.data(), static_cast<std::size_t>(stream.gcount())));
  }
  return digest.hex();
}

}  // namespace

core::Result<std::string> sha256_hex_of_file(const std::filesystem::path& file) {
  LB_RETURN_IF_ERROR(check_regular(file));
  return hex_of_file(Digest(DigestKind::kSha256), file);
}

core::Result<std::string> git_blob_name_of_file(const std::filesystem::path& file) {
  LB_RETURN_IF_ERROR(check_regular(file));
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  if (error) return status_of_errno("read", file, error.default_error_condition().value());
  Digest digest(DigestKind::kSha1);
  digest.update(fmt::format("blob {}", size));
  digest.update(std::string_view("\0", 1));
  return hex_of_file(std::move(digest), file);
}

}  // namespace latebind::platform
