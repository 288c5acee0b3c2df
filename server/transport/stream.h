// Stream transfers the bytes of one connection over TCP, a Unix socket or TLS.
//
// Internal to the transport. At most one read and one write may be pending. Everything, including handlers, runs on the
// connection's executor. Handlers are called even if close() ends their operation.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace latebind::server {

class Stream {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using OnBytes = std::function<void(const boost::system::error_code&, std::size_t)>;
  using OnDone = std::function<void(const boost::system::error_code&)>;

  virtual ~Stream() = default;

  [[nodiscard]] virtual boost::asio::any_io_executor executor() = 0;
  // Does what precedes the first byte: the TLS handshake.
  virtual void open(OnDone done) = 0;
  // Whether open() failed because the peer sent a request without TLS. If so, everything written from then on is plain,
  // too.
  [[nodiscard]] virtual bool is_asked_without_tls() const { return false; }
  virtual void read_some(std::span<char> into, OnBytes done) = 0;
  // Writes all buffers, which must stay valid until `done`.
  virtual void write(std::vector<boost::asio::const_buffer> buffers, OnBytes done) = 0;
  // Calls `done` once the peer's system reports that the connection no longer exists, in response to data sent after
  // the peer closed its direction. On systems that cannot distinguish that from the closing of the direction, calls it
  // at once.
  virtual void await_reset(OnDone done) = 0;
  // Closes the sending direction, which the peer sees.
  virtual void end_writing(OnDone done) = 0;
  virtual void close() noexcept = 0;
};

[[nodiscard]] std::unique_ptr<Stream> plain_stream(Stream::Socket socket);

// Implements Stream::await_reset().
void await_reset_of(Stream::Socket& socket, Stream::OnDone done);

}  // namespace latebind::server
