#include "server/transport/listener.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/socket_base.hpp>

#include "server/transport/unix_socket.h"

namespace latebind::server {

namespace asio = boost::asio;
using asio::generic::stream_protocol;
using boost::system::error_code;
using core::Status;
using core::StatusCode;

void Listener::close() {
  error_code ignored;
  acceptor.close(ignored);
  if (!path_.empty()) remove_socket_file(path_);
  path_.clear();
}

Status Listener::bind(const ListenAddress& address, std::string_view scheme) {
  if (address.inherited >= 0) {
    error_code error;
    is_tcp = !address.inherited_is_unix;
    // The address family does not matter to the following operations.
    acceptor.assign(stream_protocol(0, 0), address.inherited, error);
    if (error)
      return Status(StatusCode::kIo, fmt::format("inherited socket {}: {}", address.inherited, error.message()));
    name = is_tcp ? url(scheme) : fmt::format("fd:{}", address.inherited);
  } else if (!address.path.empty()) {
    LB_RETURN_IF_ERROR(listen_at_path(address.path, acceptor));
    path_ = address.path;
    name = "unix:" + address.path;
  } else {
    LB_RETURN_IF_ERROR(bind_tcp(address));
    name = url(scheme);
  }
  return {};
}

Status Listener::bind_tcp(const ListenAddress& address) {
  error_code error;
  const auto ip = asio::ip::make_address(address.host, error);
  const asio::ip::tcp::endpoint endpoint(ip, address.port);
  is_tcp = true;
  acceptor.open(stream_protocol(endpoint.protocol()), error);
#ifndef _WIN32
  // On Windows, the option would take the port away from another program.
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
#endif
  if (!error && ip.is_v6()) acceptor.set_option(asio::ip::v6_only(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) return {};
  const bool is_in_use = error == asio::error::address_in_use;
  return Status(is_in_use ? StatusCode::kBusy : StatusCode::kIo,
                fmt::format("cannot listen at {}:{}: {}{}", address.host, address.port, error.message(),
                            is_in_use ? "; end the program that listens there, or choose another port: --port N, or 0 "
                                        "for any free one"
                                      : ""));
}

std::string Listener::url(std::string_view scheme) const {
  const auto generic = acceptor.local_endpoint();
  asio::ip::tcp::endpoint endpoint;
  endpoint.resize(generic.size());
  std::copy_n(static_cast<const char*>(static_cast<const void*>(generic.data())), generic.size(),
              static_cast<char*>(static_cast<void*>(endpoint.data())));
  const auto address = endpoint.address();
  return address.is_v6() ? fmt::format("{}://[{}]:{}", scheme, address.to_string(), endpoint.port())
                         : fmt::format("{}://{}:{}", scheme, address.to_string(), endpoint.port());
}

}  // namespace latebind::server
