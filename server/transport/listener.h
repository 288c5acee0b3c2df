// Listener: one socket at which the server accepts connections.
//
// Internal to the transport. Once the server's threads run, it is used only on its strand. The destructor closes it.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <string>
#include <string_view>

#include "core/status.h"
#include "server/transport/http_server.h"

namespace latebind::server {

struct Listener {
  explicit Listener(boost::asio::io_context& io)
      : strand(boost::asio::make_strand(io)), acceptor(strand), pause(strand) {}
  ~Listener() { close(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Binds to the address. `scheme` is that of a TCP address in `name`. Returns kBusy if another program listens there.
  [[nodiscard]] core::Status bind(const ListenAddress& address, std::string_view scheme);
  // Closes the socket and removes its file.
  void close();

  boost::asio::strand<boost::asio::io_context::executor_type> strand;
  boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol> acceptor;
  boost::asio::steady_timer pause;
  bool is_tcp = false;
  std::string name{};  // "http://127.0.0.1:41234", "unix:/run/x.sock"

 private:
  [[nodiscard]] core::Status bind_tcp(const ListenAddress& address);
  // The address of a bound TCP socket as a URL.
  [[nodiscard]] std::string url(std::string_view scheme) const;

  std::string path_{};  // the Unix socket to remove at the end
};

}  // namespace latebind::server
