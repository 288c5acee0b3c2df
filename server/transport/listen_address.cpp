#include <fmt/format.h>

#include <boost/asio/ip/address.hpp>

#include "core/config.h"
#include "core/text/quote.h"
#include "server/transport/http_server.h"

namespace latebind::server {

using core::Status;
using core::StatusCode;

core::Result<ListenAddress> ListenAddress::parse(const std::string& text) {
  constexpr std::string_view kUnix = "unix:";
  ListenAddress address;
  if (text.starts_with(kUnix)) {
    address.path = text.substr(kUnix.size());
    if (address.path.empty() || address.path.find('\0') != std::string::npos) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{} does not name a socket's path", core::quoted(text, 200)));
    }
    return address;
  }
  const std::size_t colon = text.rfind(':');
  std::string host = text.substr(0, colon);
  // "::1:80" may be an address alone or with a port.
  const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const bool is_ambiguous = !is_bracketed && host.find(':') != std::string::npos;
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  boost::system::error_code error;
  boost::asio::ip::make_address(host, error);
  if (colon == std::string::npos || is_ambiguous || error) {
    return Status(StatusCode::kInvalidArgument, fmt::format("{} is not an address to listen at; write 127.0.0.1:8080, "
                                                            "[::1]:8080, 0.0.0.0:8080 or unix:/run/latebind.sock",
                                                            core::quoted(text, 200)));
  }
  LB_ASSIGN_OR_RETURN(const std::int64_t port, core::parse_integer("the port", text.substr(colon + 1), 0, 65535));
  address.host = std::move(host);
  address.port = static_cast<std::uint16_t>(port);
  return address;
}

bool ListenAddress::is_local() const {
  if (inherited >= 0) return true;  // its creator has decided
  if (host.empty()) return true;
  boost::system::error_code error;
  return boost::asio::ip::make_address(host, error).is_loopback();
}

}  // namespace latebind::server
