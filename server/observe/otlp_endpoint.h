// OtlpEndpoint is the address that spans are posted to. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace latebind::server {

struct OtlpEndpoint {
  std::string url;           // with "/v1/traces" added
  bool is_loopback = false;  // on this machine: no proxy is used for it
};

// Parses "http://HOST[:PORT][/PATH]", or the same with https://, without characters that need encoding. Returns
// std::nullopt for anything else.
[[nodiscard]] std::optional<OtlpEndpoint> otlp_endpoint_of(std::string_view url);

}  // namespace latebind::server
