// Listening at a path of the file system. Internal to the transport.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <string>

#include "core/result.h"

namespace latebind::server {

// Opens and binds `acceptor`. A socket that nobody listens at any more is replaced; anything else that is there is an
// error. kUnsupported on Windows. A signal that ends the program removes the socket (core/platform/files/leftovers.h).
[[nodiscard]] core::Status listen_at_path(
    const std::string& path, boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>& acceptor);

// Removes what listen_at_path() made, unless it is a socket that somebody listens at again.
void remove_socket_file(const std::string& path) noexcept;

}  // namespace latebind::server
