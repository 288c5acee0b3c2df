// Stream: the bytes of one connection, whatever is below: TCP, a Unix socket, TLS.
//
// Internal to the transport. One read and one write at a time; everything, handlers included, runs on the connection's
// executor, one after the other. Handlers are called even when close() ends what they wait for.
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
  // What comes before the first byte: TLS's handshake.
  virtual void open(OnDone done) = 0;
  // Whether that failed because the peer sent a request without TLS. What is written from then on is plain, too.
  [[nodiscard]] virtual bool is_asked_without_tls() const { return false; }
  virtual void read_some(std::span<char> into, OnBytes done) = 0;
  // All of them; they must live until then.
  virtual void write(std::vector<boost::asio::const_buffer> buffers, OnBytes done) = 0;
  // Once the peer's system says that the connection is no longer there: to what has ended its direction, after
  // something was written to it. Where this system does not tell that apart from the end of the direction, at once.
  virtual void await_reset(OnDone done) = 0;
  // Nothing more will be written; the peer learns of it.
  virtual void end_writing(OnDone done) = 0;
  virtual void close() noexcept = 0;
};

[[nodiscard]] std::unique_ptr<Stream> plain_stream(Stream::Socket socket);

// Stream::await_reset().
void await_reset_of(Stream::Socket& socket, Stream::OnDone done);

}  // namespace latebind::server
