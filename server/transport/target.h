// Target is the parsed target of a request line. A value.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latebind::server {

struct Target {
  std::string path;  // percent-decoded
  // Of the path, each decoded separately, so that one may contain '/'. Empty for "*".
  std::vector<std::string> segments;
  std::string query;  // as sent, without '?'

  // Parses "/v1/models/a%20b?x=1", the same preceded by "http://HOST", or "*". Returns std::nullopt if the path does
  // not begin with "/", is not UTF-8 once decoded, or contains NUL or an invalid percent sign.
  static std::optional<Target> parse(std::string_view text);
};

// Decodes percent signs. Returns std::nullopt for invalid ones.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace latebind::server
