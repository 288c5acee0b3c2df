#include "server/observe/otlp_endpoint.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "core/text/ascii.h"
#include "core/text/name_character.h"

namespace latebind::server {
namespace {

constexpr std::size_t kEndpointSizeMax = 1024;

bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && port != 0;
}

bool is_ipv6(std::string_view host) {
  return host.size() > 2 && host.starts_with('[') && host.ends_with(']') &&
         std::ranges::all_of(host.substr(1, host.size() - 2),
                             [](char c) { return core::hexadecimal_digit(c).has_value() || c == ':' || c == '.'; });
}

}  // namespace

std::optional<OtlpEndpoint> otlp_endpoint_of(std::string_view url) {
  if (url.size() > kEndpointSizeMax) return std::nullopt;
  const std::size_t scheme = url.starts_with("http://") ? 7 : url.starts_with("https://") ? 8 : 0;
  if (scheme == 0) return std::nullopt;
  while (url.ends_with('/'))
    url.remove_suffix(1);
  if (url.size() < scheme) return std::nullopt;
  const std::string_view rest = url.substr(scheme);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  // Rejects characters that need encoding or would end the request's line.
  const bool is_path = std::ranges::all_of(
      rest.substr(slash), [](char c) { return c > ' ' && c < 0x7F && c != '?' && c != '#' && c != '"'; });

  std::string_view host = rest.substr(0, slash);
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && !host.ends_with(']')) {
    if (!is_port(host.substr(colon + 1))) return std::nullopt;
    host = host.substr(0, colon);
  }
  const bool is_name = !host.empty() && std::ranges::all_of(host, core::is_name_character);
  if (!is_path || (!is_name && !is_ipv6(host))) return std::nullopt;
  return OtlpEndpoint{.url = std::string(url) + "/v1/traces",
                      .is_loopback = host == "localhost" || host == "[::1]" || host.starts_with("127.")};
}

}  // namespace latebind::server
