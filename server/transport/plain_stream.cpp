#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "server/transport/stream.h"

namespace latebind::server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

class PlainStream final : public Stream {
 public:
  explicit PlainStream(Socket socket) : socket_(std::move(socket)) {}

  asio::any_io_executor executor() override { return socket_.get_executor(); }

  void open(OnDone done) override {
    asio::post(socket_.get_executor(), [done = std::move(done)] { done(error_code()); });
  }

  void read_some(std::span<char> into, OnBytes done) override {
    socket_.async_read_some(asio::buffer(into.data(), into.size()), std::move(done));
  }

  void write(std::vector<asio::const_buffer> buffers, OnBytes done) override {
    asio::async_write(socket_, buffers, std::move(done));
  }

  void await_reset(OnDone done) override { await_reset_of(socket_, std::move(done)); }

  void end_writing(OnDone done) override {
    error_code error;
    socket_.shutdown(Socket::shutdown_send, error);
    asio::post(socket_.get_executor(), [error, done = std::move(done)] { done(error); });
  }

  void close() noexcept override {
    error_code ignored;
    socket_.cancel(ignored);  // on Windows, closing alone may leave a pending write
    socket_.close(ignored);
  }

 private:
  Socket socket_;
};

}  // namespace

std::unique_ptr<Stream> plain_stream(Stream::Socket socket) {
  return std::make_unique<PlainStream>(std::move(socket));
}

}  // namespace latebind::server
