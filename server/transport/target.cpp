#include "server/transport/target.h"

#include "core/text/utf8.h"

namespace latebind::server {
namespace {

// -1 where it is no hexadecimal digit.
int digit_of(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = digit_of(text[i + 1]);
    const int low = digit_of(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

std::optional<Target> Target::parse(std::string_view text) {
  // What proxies are sent, and servers may be.
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!text.starts_with(scheme)) continue;
    const std::size_t slash = text.find('/', scheme.size());
    text = slash == std::string_view::npos ? "/" : text.substr(slash);
    break;
  }
  text = text.substr(0, text.find('#'));
  const std::size_t question = text.find('?');
  Target target;
  if (question != std::string_view::npos) target.query = std::string(text.substr(question + 1));
  auto path = percent_decoded(text.substr(0, question));
  if (!path || path->empty() || path->find('\0') != std::string::npos) return std::nullopt;
  if (*path != "*" && path->front() != '/') return std::nullopt;
  if (core::find_invalid_utf8(*path)) return std::nullopt;
  target.path = *std::move(path);
  return target;
}

}  // namespace latebind::server
