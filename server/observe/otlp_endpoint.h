// OtlpEndpoint is the address that spans are posted to. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace latebind::server {

struct OtlpEndpoint {
  std::string host;       // without the brackets of IPv6
  std::string port;       // 1 to 65535
  std::string authority;  // as given
  std::string path;       // "/v1/traces" added
};

// Parses "http://HOST:PORT[/PATH]" without characters that need encoding. Returns std::nullopt for anything else.
[[nodiscard]] std::optional<OtlpEndpoint> otlp_endpoint_of(std::string_view url);

}  // namespace latebind::server
