// HttpSessionTest: sessions over connections in memory, with a handler that echoes requests or holds them.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/transport/http_session.h"
#include "tests/server/transport/piece_stream.h"

namespace latebind::server {

class HttpSessionTest : public ::testing::Test {
 protected:
  HttpSessionTest() {
    shared_.options.head_bytes_max = 4096;
    shared_.options.body_bytes_max = 100'000;
    shared_.handler = [this](ExchangePtr exchange) {
      ++handled_;
      if (holds_) {
        held_.push_back(std::move(exchange));
      } else {
        echo(*exchange);
      }
    };
    shared_.held = std::make_shared<HeldBytes>(std::uint64_t{1} << 30);
    shared_.screen = [](const HttpRequest&) { return std::nullopt; };
    shared_.is_probe = [](const HttpRequest& head) { return head.path == "/live"; };
    shared_.refuse = [](const Refusal& refusal, unsigned status, const HttpRequest*) {
      HttpResponse response;
      response.status = status;
      response.body = refusal.message;
      return response;
    };
    shared_.on_end = [this](HttpSession*) { ++ended_; };
  }
  ~HttpSessionTest() override {
    held_.clear();
    // Each is held by what waits for its client's next bytes.
    for (const auto& opened : opened_) {
      if (const auto session = opened.lock()) session->abort();
    }
    run();
  }

  // What the handler has seen of it.
  static void echo(Exchange& exchange) {
    const HttpRequest& request = exchange.request();
    HttpResponse response;
    response.content_type = "text/plain";
    response.body = fmt::format("<{} {}?{} {}>", request.method, request.path, request.query, request.body);
    exchange.answer(std::move(response));
  }

  void run() {
    io_.restart();
    io_.run();
  }
  void open(void (HttpSession::*start)() = &HttpSession::start) {
    client_ = std::make_shared<PieceClient>();
    const auto session = std::make_shared<HttpSession>(std::make_unique<PieceStream>(io_, client_), shared_);
    session_ = session;
    opened_.push_back(session_);
    (session.get()->*start)();
  }
  void open_beyond_limit() { open(&HttpSession::start_beyond_limit); }
  // Until the server waits for something. The answers so far.
  std::string send(std::vector<std::string> pieces) {
    if (client_ == nullptr) open();
    for (std::string& piece : pieces)
      client_->pieces.push_back(std::move(piece));
    PieceStream::serve(io_, *client_);
    run();
    return client_->received;
  }
  std::string send(std::string bytes) { return send(std::vector<std::string>{std::move(bytes)}); }
  void end() {
    client_->has_ended = true;
    PieceStream::serve(io_, *client_);
    run();
  }
  void reset() {
    if (auto done = std::exchange(client_->on_reset, nullptr)) done({});
    run();
  }
  void pass(std::chrono::milliseconds time) {
    if (const auto session = session_.lock()) session->check_time(std::chrono::steady_clock::now() + time);
    run();
  }
  // Of a connection of its own.
  std::string answer_to(const std::string& bytes) {
    open();
    send(bytes);
    std::string answer = client_->received;
    has_closed_ = client_->server_has_ended || client_->is_closed;
    end();
    return answer;
  }
  void expect_refused(const std::string& bytes, unsigned status) {
    const unsigned handled = handled_;
    EXPECT_THAT(answer_to(bytes), ::testing::StartsWith(fmt::format("HTTP/1.1 {} ", status))) << bytes.substr(0, 300);
    EXPECT_THAT(client_->received, ::testing::HasSubstr("\r\nConnection: close\r\n"));
    EXPECT_TRUE(has_closed_) << bytes.substr(0, 300);
    EXPECT_EQ(handled_, handled) << bytes.substr(0, 300);
  }

  boost::asio::io_context io_;
  HttpSession::Shared shared_;
  std::shared_ptr<PieceClient> client_;
  std::weak_ptr<HttpSession> session_;              // the last
  std::vector<std::weak_ptr<HttpSession>> opened_;  // all
  bool holds_ = false;
  bool has_closed_ = false;
  std::vector<ExchangePtr> held_;
  unsigned handled_ = 0;
  unsigned ended_ = 0;
};

inline const std::string kGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

inline std::string post(const std::string& headers, const std::string& body) {
  return "POST /p HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n" + body;
}

}  // namespace latebind::server
