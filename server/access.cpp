#include "server/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/platform/digest.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/small_file.h"
#include "core/text/ascii.h"
#include "core/text/pieces.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"

namespace latebind::server {

using core::Status;
using core::StatusCode;

namespace {

constexpr std::size_t kKeyFileMax = std::size_t{1} << 20;
constexpr std::size_t kKeysMax = 4096;

std::string digest_of(std::string_view key) {
  platform::Sha256 digest;
  digest.update(key);
  return digest.hex();
}

// Takes the same time for all pairs of one length.
bool is_same(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  return difference == 0;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

bool has_blank(std::string_view key) {
  return std::ranges::any_of(key, [](char letter) { return static_cast<unsigned char>(letter) <= ' '; });
}

// Returns the request's key: "Authorization: Bearer KEY", or "x-api-key: KEY".
std::string_view key_of(const HttpRequest& request) {
  constexpr std::string_view kBearer = "bearer ";
  const std::string_view authorization = request.header("authorization");
  const bool is_bearer = authorization.size() > kBearer.size() && core::starts_with_in_any_case(authorization, kBearer);
  return is_bearer ? trimmed(authorization.substr(kBearer.size())) : request.header("x-api-key");
}

// Accepts only the form in which browsers write a host.
bool is_host(std::string_view host) {
  if (host.starts_with('[')) {
    return host.size() > 2 && host.ends_with(']') &&
           host.substr(1, host.size() - 2).find_first_not_of("0123456789abcdef:.") == std::string_view::npos;
  }
  return !host.empty() && host.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-._~") == std::string_view::npos;
}

bool is_port(std::string_view port, std::string_view scheme) {
  unsigned number = 0;
  const auto [stop, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  const unsigned left_out = scheme == "https" ? 443 : scheme == "http" ? 80 : 0;
  return error == std::errc() && stop == port.data() + port.size() && port.front() != '0' && number <= 65535 &&
         number != left_out;
}

bool is_origin(std::string_view text) {
  const std::size_t mark = text.find("://");
  if (mark == std::string_view::npos) return false;
  const std::string_view scheme = text.substr(0, mark);
  if (scheme.empty() || scheme.front() < 'a' || scheme.front() > 'z' ||
      scheme.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+-.") != std::string_view::npos) {
    return false;
  }
  const std::string_view rest = text.substr(mark + 3);
  const std::size_t colon = rest.find(':', rest.starts_with('[') ? std::min(rest.find(']'), rest.size()) : 0);
  if (colon == std::string_view::npos) return is_host(rest);
  return is_host(rest.substr(0, colon)) && colon + 1 < rest.size() && is_port(rest.substr(colon + 1), scheme);
}

}  // namespace

Status check_origin(std::string_view origin) {
  if (origin == "*" || origin == "null" || is_origin(origin)) return {};
  return Status(StatusCode::kInvalidArgument,
                fmt::format("--cors-origin {}: browsers never send this origin; write scheme://host or "
                            "scheme://host:port in lower case, without a path, a trailing / or the scheme's default "
                            "port, such as https://example.org; or * for every origin",
                            core::quoted(origin)));
}

Access::Access(std::string_view key, std::string key_file, std::vector<std::string> origins)
    : key_digest_(key.empty() ? std::string() : digest_of(key)),
      key_file_(std::move(key_file)),
      origins_(std::move(origins)) {}

core::Result<Access::Keys> Access::load_keys() const {
  auto keys = std::make_shared<std::vector<std::string>>();
  if (!key_digest_.empty()) keys->push_back(key_digest_);
  if (key_file_.empty()) return Keys(std::move(keys));
  LB_ASSIGN_OR_RETURN(const std::string file,
                      platform::read_small_file(platform::path_from_utf8(key_file_), kKeyFileMax));
  std::string_view text = file;
  if (text.starts_with(core::kByteOrderMark)) text.remove_prefix(core::kByteOrderMark.size());
  if (text.find('\0') != std::string_view::npos || core::find_invalid_utf8(text)) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("the key file {} is not UTF-8 text", core::quoted(key_file_)));
  }
  const std::size_t before = keys->size();
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view key = trimmed(core::take_until(text, '\n'));
    if (key.empty() || key.front() == '#') continue;
    if (has_blank(key)) {
      return Status(
          StatusCode::kInvalidArgument,
          fmt::format(
              "the key file {} has a blank inside the key of line {}: put comments on separate lines that begin with #",
              core::quoted(key_file_), line));
    }
    if (keys->size() == kKeysMax) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("the key file {} has more than {}", core::quoted(key_file_), kKeysMax));
    }
    keys->push_back(digest_of(key));
  }
  if (keys->size() == before) {
    return Status(StatusCode::kInvalidArgument, fmt::format("the key file {} has no keys", core::quoted(key_file_)));
  }
  return Keys(std::move(keys));
}

void Access::use(Keys keys) {
  const core::MutexLock lock(mutex_);
  keys_ = std::move(keys);
}

Access::Keys Access::keys() const {
  const core::MutexLock lock(mutex_);
  return keys_;
}

std::optional<std::string_view> Access::why_not(const HttpRequest& request) const {
  if (!wants_key()) return std::nullopt;
  const std::string_view key = key_of(request);
  if (key.empty()) {
    return request.header("authorization").empty()
               ? "the request has no key: send Authorization: Bearer KEY, or x-api-key: KEY"
               : "the Authorization header has no key: it must be Bearer KEY; x-api-key: KEY works, too";
  }
  const std::string digest = digest_of(key);
  bool is_known = false;
  const Keys keys = this->keys();
  for (const std::string& known : *keys)
    is_known = is_same(known, digest) || is_known;
  if (is_known) return std::nullopt;
  return "the request's key is not a key of this server";
}

std::string Access::allowed_origin(std::string_view origin) const {
  if (origin.empty()) return {};
  for (const std::string& known : origins_) {
    if (known == "*") return "*";
    if (known == origin) return std::string(origin);
  }
  return {};
}

}  // namespace latebind::server
