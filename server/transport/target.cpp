#include "server/transport/target.h"

#include <algorithm>

#include "core/text/ascii.h"
#include "core/text/utf8.h"

namespace latebind::server {

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const auto high = core::hexadecimal_digit(text[i + 1]);
    const auto low = core::hexadecimal_digit(text[i + 2]);
    if (!high || !low) return std::nullopt;
    decoded += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return decoded;
}

std::optional<Target> Target::parse(std::string_view text) {
  // The absolute form, which proxies require and servers must accept.
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!core::starts_with_in_any_case(text, scheme)) continue;
    const std::size_t end = text.find_first_of("/?#", scheme.size());
    text = end == std::string_view::npos ? std::string_view() : text.substr(end);
    if (text.empty() || text.front() != '/') return parse("/" + std::string(text));
    break;
  }
  text = text.substr(0, text.find('#'));
  const std::size_t question = text.find('?');
  Target target;
  if (question != std::string_view::npos) target.query = std::string(text.substr(question + 1));
  text = text.substr(0, question);
  if (text == "*") {
    target.path = "*";
    return target;
  }
  while (!text.empty()) {
    if (text.front() != '/') return std::nullopt;
    text.remove_prefix(1);
    const std::size_t end = std::min(text.find('/'), text.size());
    auto segment = percent_decoded(text.substr(0, end));
    if (!segment || segment->find('\0') != std::string::npos) return std::nullopt;
    text.remove_prefix(end);
    target.path += '/';
    target.path += *segment;
    target.segments.push_back(*std::move(segment));
  }
  if (target.path.empty() || core::find_invalid_utf8(target.path)) return std::nullopt;
  return target;
}

}  // namespace latebind::server
