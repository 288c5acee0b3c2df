#include "server/transport/unix_socket.h"

namespace latebind::server {

core::Status listen_at_path(const std::string& /*path*/,
                            boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>& /*acceptor*/) {
  return core::Status(core::StatusCode::kUnsupported,
                      "the Windows build does not support Unix sockets; use 127.0.0.1:PORT");
}

void remove_socket_file(const std::string& /*path*/) noexcept {}

}  // namespace latebind::server
