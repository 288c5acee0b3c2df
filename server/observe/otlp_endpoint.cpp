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

}  // namespace

std::optional<OtlpEndpoint> otlp_endpoint_of(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme) || url.size() > kEndpointSizeMax) return std::nullopt;
  url.remove_prefix(kScheme.size());
  OtlpEndpoint endpoint;
  const std::size_t slash = std::min(url.find('/'), url.size());
  endpoint.authority = url.substr(0, slash);
  endpoint.path = url.substr(slash);
  while (endpoint.path.ends_with('/'))
    endpoint.path.pop_back();
  // Rejects characters that need encoding or would end the request's line.
  const bool is_path = std::all_of(endpoint.path.begin(), endpoint.path.end(),
                                   [](char c) { return c > ' ' && c < 0x7F && c != '?' && c != '#' && c != '"'; });
  endpoint.path += "/v1/traces";

  const std::size_t colon = endpoint.authority.rfind(':');
  if (!is_path || colon == std::string::npos) return std::nullopt;
  endpoint.host = endpoint.authority.substr(0, colon);
  endpoint.port = endpoint.authority.substr(colon + 1);
  std::uint16_t port = 0;
  const auto read = std::from_chars(endpoint.port.data(), endpoint.port.data() + endpoint.port.size(), port);
  if (read.ec != std::errc() || read.ptr != endpoint.port.data() + endpoint.port.size() || port == 0) {
    return std::nullopt;
  }
  const bool is_ipv6 = endpoint.host.starts_with('[') && endpoint.host.ends_with(']');
  if (is_ipv6) endpoint.host = endpoint.host.substr(1, endpoint.host.size() - 2);
  const bool is_host = !endpoint.host.empty() && std::all_of(endpoint.host.begin(), endpoint.host.end(), [&](char c) {
    if (is_ipv6) return core::hexadecimal_digit(c).has_value() || c == ':' || c == '.';
    return core::is_name_character(c);
  });
  return is_host ? std::optional(std::move(endpoint)) : std::nullopt;
}

}  // namespace latebind::server
