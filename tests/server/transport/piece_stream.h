// PieceStream: a connection in memory. What its client sends comes in exactly the pieces in which it was given, and
// what is written to it is kept. One thread, which runs the io_context.
#pragma once

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server/transport/stream.h"

namespace latebind::server {

// The client's end of it. Lives as long as the stream.
struct PieceClient {
  std::deque<std::string> pieces{};
  bool has_ended = false;  // its direction is closed once the pieces are read
  boost::system::error_code end_error = boost::asio::error::eof;
  bool holds_writes = false;  // they are not done before let_write()
  std::function<void()> held_write{};
  std::string received{};
  bool server_has_ended = false;  // the server's direction is closed
  bool is_closed = false;
  Stream::OnDone on_reset{};
  // A read that waits for more.
  std::span<char> into{};
  Stream::OnBytes on_read{};

  void let_write(boost::asio::io_context& io) {
    holds_writes = false;
    boost::asio::post(io, std::exchange(held_write, nullptr));
  }
};

class PieceStream final : public Stream {
 public:
  PieceStream(boost::asio::io_context& io, std::shared_ptr<PieceClient> client) : io_(io), client_(std::move(client)) {}

  boost::asio::any_io_executor executor() override { return io_.get_executor(); }

  void open(OnDone done) override {
    boost::asio::post(io_, [done = std::move(done)] { done({}); });
  }

  void read_some(std::span<char> into, OnBytes done) override {
    client_->into = into;
    client_->on_read = std::move(done);
    serve(io_, *client_);
  }

  void write(std::vector<boost::asio::const_buffer> buffers, OnBytes done) override {
    std::size_t count = 0;
    for (const auto& buffer : buffers) {
      client_->received.append(static_cast<const char*>(buffer.data()), buffer.size());
      count += buffer.size();
    }
    if (client_->holds_writes) {
      client_->held_write = [done = std::move(done), count] { done({}, count); };
      return;
    }
    boost::asio::post(io_, [done = std::move(done), count] { done({}, count); });
  }

  void await_reset(OnDone done) override { client_->on_reset = std::move(done); }

  void end_writing(OnDone done) override {
    client_->server_has_ended = true;
    boost::asio::post(io_, [done = std::move(done)] { done({}); });
  }

  void close() noexcept override {
    client_->is_closed = true;
    serve(io_, *client_);
  }

  // Ends a read that waits, where there is something for it.
  static void serve(boost::asio::io_context& io, PieceClient& client) {
    if (!client.on_read) return;
    boost::system::error_code error;
    std::size_t count = 0;
    if (client.is_closed) {
      error = boost::asio::error::operation_aborted;
    } else if (!client.pieces.empty()) {
      std::string& piece = client.pieces.front();
      count = std::min(piece.size(), client.into.size());
      std::copy_n(piece.data(), count, client.into.data());
      piece.erase(0, count);
      if (piece.empty()) client.pieces.pop_front();
    } else if (client.has_ended) {
      error = client.end_error;
    } else {
      return;
    }
    boost::asio::post(io, [done = std::exchange(client.on_read, nullptr), error, count] { done(error, count); });
  }

 private:
  boost::asio::io_context& io_;
  const std::shared_ptr<PieceClient> client_;
};

}  // namespace latebind::server
