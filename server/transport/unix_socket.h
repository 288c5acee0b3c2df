// Listening on a Unix socket in the file system. Internal to the transport.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <string>

#include "core/result.h"

namespace latebind::server {

// Opens and binds `acceptor`. Replaces a socket on which no process listens any more; anything else at the path is an
// error. Returns kUnsupported on Windows. A signal that ends the program removes the socket
// (core/platform/files/leftovers.h).
[[nodiscard]] core::Status listen_at_path(
    const std::string& path, boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>& acceptor);

// Removes the socket of listen_at_path(), unless another process listens on it by now.
void remove_socket_file(const std::string& path) noexcept;

}  // namespace latebind::server
