// Target: what a request line asks for, taken apart. A value.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latebind::server {

struct Target {
  std::string path;  // percent-decoded
  std::vector<std::string>
      segments;       // of the path: each decoded by itself, so that one may have a '/' in it; none of "*"
  std::string query;  // as sent, without '?'

  // "/v1/models/a%20b?x=1", or the same with "http://HOST" before it, or "*". Nothing where the path does not begin
  // with
  // "/", is not UTF-8 once decoded, or has a NUL or a wrong percent sign in it.
  static std::optional<Target> parse(std::string_view text);
};

// Decodes percent signs; nothing for wrong ones.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace latebind::server
