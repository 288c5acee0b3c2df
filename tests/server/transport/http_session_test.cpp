// HttpSession over a connection in memory: what it takes for a request, and what it does with everything else.
#include "server/transport/http_session.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/transport/piece_stream.h"

namespace latebind::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using std::string_literals::operator""s;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class HttpSessionTest : public testing::Test {
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
  void pass(milliseconds time) {
    if (const auto session = session_.lock()) session->check_time(steady_clock::now() + time);
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
    EXPECT_THAT(answer_to(bytes), StartsWith(fmt::format("HTTP/1.1 {} ", status))) << bytes.substr(0, 300);
    EXPECT_THAT(client_->received, HasSubstr("\r\nConnection: close\r\n"));
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

const std::string kGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

std::string post(const std::string& headers, const std::string& body) {
  return "POST /p HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n" + body;
}

TEST_F(HttpSessionTest, AnswersAndWaitsForTheNextRequest) {
  EXPECT_THAT(send(kGet), EndsWith("<GET /a? >"));
  EXPECT_THAT(client_->received, Not(HasSubstr("Connection")));
  EXPECT_THAT(send("GET /b?q=1 HTTP/1.1\r\nHost: x\r\n\r\n"), EndsWith("<GET /b?q=1 >"));
  EXPECT_FALSE(client_->server_has_ended);
  end();
  EXPECT_EQ(ended_, 1U);
}

TEST_F(HttpSessionTest, ARequestMayComeByteByByte) {
  std::vector<std::string> pieces;
  for (const char letter : post("Content-Length: 5\r\n", "hello") +
                               post("Transfer-Encoding: chunked\r\n", "2;x=\"y\"\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"))
    pieces.emplace_back(1, letter);
  send(std::move(pieces));
  EXPECT_EQ(handled_, 2U);
  EXPECT_EQ(client_->received.find("<POST /p? hello>"), client_->received.rfind("HTTP/1.1 200") - 16);
  EXPECT_THAT(client_->received, EndsWith("<POST /p? hello>"));
}

TEST_F(HttpSessionTest, AnswersPipelinedRequestsInTheirOrder) {
  std::string many;
  for (int i = 0; i < 1000; ++i)
    many += fmt::format("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", i);
  const std::string answers = send(many);
  std::size_t at = 0;
  for (int i = 0; i < 1000; ++i) {
    at = answers.find(fmt::format("<GET /{}? >", i), at);
    ASSERT_NE(at, std::string::npos) << i;
  }
  EXPECT_EQ(handled_, 1000U);
}

TEST_F(HttpSessionTest, WhatComesBeforeItsTurnWaitsWithinBounds) {
  holds_ = true;
  send(kGet);
  for (int i = 0; i < 2000; ++i)
    send(std::string(1024, 'x'));
  // A part is read, so that the client's end is noticed; the rest is left to the socket.
  EXPECT_GE(client_->pieces.size(), 900U);
  EXPECT_LE(shared_.held->used(), std::uint64_t{1} << 20);
  EXPECT_GT(shared_.held->used(), std::uint64_t{1} << 19);
  EXPECT_EQ(handled_, 1U);
}

TEST_F(HttpSessionTest, EmptyLinesBeforeARequestAreLetPass) {
  EXPECT_THAT(send("\r\n\r\n" + kGet), EndsWith("<GET /a? >"));
}

TEST_F(HttpSessionTest, TwoReadingsOfABodysEndAreRefused) {
  expect_refused(post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"), 400);
  expect_refused(post("Content-Length: 5\r\nContent-Length: 6\r\n", "hello"), 400);
  expect_refused(post("Content-Length: 5, 5\r\n", "hello"), 400);
  expect_refused(post("Content-Length: +5\r\n", "hello"), 400);
  expect_refused(post("Content-Length: -5\r\n", "hello"), 400);
  expect_refused(post("Content-Length: 0x5\r\n", "hello"), 400);
  expect_refused(post("Content-Length: \r\n", "hello"), 400);
  expect_refused(post("Content-Length: 99999999999999999999999999\r\n", "hello"), 400);
  expect_refused(post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400);
  expect_refused(post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"), 400);
  expect_refused(post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400);
  expect_refused(post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n"), 400);
  expect_refused("POST /p HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400);
  expect_refused(post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), 501);
  expect_refused(post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), 501);
  expect_refused(post("Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n"), 501);
  expect_refused(post("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n"), 501);
}

TEST_F(HttpSessionTest, DamagedChunksAreRefused) {
  const auto chunked = [](const std::string& body) { return post("Transfer-Encoding: chunked\r\n", body); };
  expect_refused(chunked("g\r\n"), 400);
  expect_refused(chunked("-1\r\n"), 400);
  expect_refused(chunked("0x5\r\nhello\r\n0\r\n\r\n"), 400);
  EXPECT_EQ(answer_to(chunked("5\nhello\n0\n\n")), "");  // the line has not ended
  expect_refused(chunked("5\r\nhelloX\r\n0\r\n\r\n"), 400);
  expect_refused(chunked("5 \r\nhello\r\n0\r\n\r\nX"), 400);
  expect_refused(chunked("10000000000000005\r\nhello\r\n"), 400);
  expect_refused(chunked("ffffffffffffffff\r\nhello\r\n"), 413);
  expect_refused(chunked("fffffffffffffffff\r\nhello\r\n"), 400);
}

TEST_F(HttpSessionTest, DamagedHeadsAreRefused) {
  expect_refused("\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400);
  expect_refused("GET /a HTTP/1.1\nHost: x\n\n\r\n\r\n", 400);
  expect_refused("GET /a HTTP/1.1\r\nHost: x\nA: b\r\n\r\n", 400);
  expect_refused("GET /a HTTP/1.1\r\nHost: x\rA: b\r\n\r\n", 400);
  expect_refused("GET /a HTTP/1.1\r\nHost : x\r\n\r\n", 400);
  expect_refused("GET /a HTTP/1.1\r\n Host: x\r\n\r\n", 400);
  expect_refused("GET /a HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 400);
  expect_refused("GET /a HTTP/1.1\r\nHost: x\r\nA:\r\n\tc\r\n\r\n", 400);
  expect_refused("GET /a HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", 400);
  expect_refused("GET /a HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n", 400);
  expect_refused("GET /a HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n"s, 400);
  expect_refused("GET /a\0b HTTP/1.1\r\nHost: x\r\n\r\n"s, 400);
  expect_refused("GET  /a HTTP/1.1\r\nHost: x\r\n\r\n", 400);
  expect_refused("GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400);
  expect_refused("GET a HTTP/1.1\r\nHost: x\r\n\r\n", 400);
  expect_refused("GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400);
  expect_refused("GET /%ff HTTP/1.1\r\nHost: x\r\n\r\n", 400);
  expect_refused("GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n", 400);
  expect_refused("GET /a HTTP/1.1\r\n\r\n", 400);
  expect_refused("GET /a HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400);
  expect_refused("CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n", 400);
  expect_refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505);
  expect_refused("GET /a HTTP/1.2\r\nHost: x\r\n\r\n", 505);
  expect_refused(post("Content-Encoding: gzip\r\nContent-Length: 1\r\n", "x"), 415);
  expect_refused(post("Expect: 200-ok\r\nContent-Length: 1\r\n", "x"), 417);
}

TEST_F(HttpSessionTest, WhatIsTooLongIsRefused) {
  expect_refused("GET /" + std::string(5000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n", 414);
  expect_refused("GET /" + std::string(50'000, 'a'), 414);
  expect_refused("GET /a HTTP/1.1\r\nHost: x\r\nA: " + std::string(5000, 'a') + "\r\n\r\n", 431);
  expect_refused("GET /a HTTP/1.1\r\nHost: x\r\nA: " + std::string(50'000, 'a'), 431);
  std::string many = "GET /a HTTP/1.1\r\nHost: x\r\n";
  for (int i = 0; i < 1000; ++i)
    many += "a: b\r\n";
  expect_refused(many + "\r\n", 431);
  expect_refused(post("Content-Length: 100001\r\n", ""), 413);
  expect_refused(post("Expect: 100-continue\r\nContent-Length: 100001\r\n", ""), 413);
  expect_refused(post("Transfer-Encoding: chunked\r\n", "186a1\r\n"), 413);
}

// The parser takes complete lines out of its own account.
TEST_F(HttpSessionTest, AHeadInPiecesHasTheSameLimit) {
  std::vector<std::string> pieces{"GET /a HTTP/1.1\r\nHost: x\r\nA"};
  for (int i = 0; i < 1000; ++i)
    pieces.emplace_back(": bbbbbbbbb\r\nA");
  EXPECT_THAT(send(std::move(pieces)), StartsWith("HTTP/1.1 431 "));
  EXPECT_TRUE(client_->server_has_ended);
}

TEST_F(HttpSessionTest, SmallHeadersAreCountedToo) {
  std::string many = "GET /a HTTP/1.1\r\nHost: x\r\n";
  shared_.options.head_bytes_max = 16'384;
  for (int i = 0; i < 300; ++i)
    many += "a:\r\n";
  expect_refused(many + "\r\n", 431);
}

TEST_F(HttpSessionTest, WhatIsAroundChunksIsBounded) {
  send(post("Transfer-Encoding: chunked\r\n", "1;"));
  for (int i = 0; i < 100 && !client_->server_has_ended; ++i)
    send(std::string(1024, 'x'));
  EXPECT_THAT(client_->received, StartsWith("HTTP/1.1 400 "));
  client_ = nullptr;
  send(post("Transfer-Encoding: chunked\r\n", "1\r\nx\r\n0\r\n"));
  for (int i = 0; i < 100 && !client_->server_has_ended; ++i)
    send("A: " + std::string(1000, 'x') + "\r\n");
  EXPECT_THAT(client_->received, StartsWith("HTTP/1.1 400 "));
  EXPECT_EQ(handled_, 0U);
}

// A proxy that checks headers does not see them.
TEST_F(HttpSessionTest, TrailersAreNoHeaders) {
  holds_ = true;
  send(post("Transfer-Encoding: chunked\r\n", "1\r\nx\r\n0\r\nAuthorization: Bearer k\r\nConnection: close\r\n\r\n"));
  ASSERT_EQ(held_.size(), 1U);
  EXPECT_EQ(held_[0]->request().header("authorization"), "");
  EXPECT_EQ(held_[0]->request().body, "x");
  EXPECT_EQ(held_[0]->request().header("transfer-encoding"), "chunked");
}

TEST_F(HttpSessionTest, SaysToGoOnWhereAClientWaitsForIt) {
  EXPECT_EQ(send(post("Expect: 100-continue\r\nContent-Length: 2\r\n", "")), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_THAT(send("hi"), EndsWith("<POST /p? hi>"));
  const std::size_t before = client_->received.size();
  send(post("Expect: 100-Continue\r\nTransfer-Encoding: chunked\r\n", ""));
  EXPECT_EQ(client_->received.substr(before), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_THAT(send("2\r\nho\r\n0\r\n\r\n"), EndsWith("<POST /p? ho>"));
}

TEST_F(HttpSessionTest, DoesNotSayToGoOnWhereNothingIsWaitedFor) {
  EXPECT_THAT(send(post("Expect: 100-continue\r\nContent-Length: 2\r\n", "hi")), Not(HasSubstr(" 100 ")));
  EXPECT_THAT(send(post("Expect: 100-continue\r\nContent-Length: 0\r\n", "")), Not(HasSubstr(" 100 ")));
  // HTTP/1.0 does not know it.
  EXPECT_THAT(send("POST /p HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"), Not(HasSubstr(" 100 ")));
  EXPECT_THAT(send("ho"), EndsWith("<POST /p? ho>"));
}

TEST_F(HttpSessionTest, HeadHasTheLengthOfABodyAndNone) {
  const std::string answer = send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 11\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST_F(HttpSessionTest, HttpOneZeroEndsUnlessItAsksForMore) {
  EXPECT_THAT(send("GET /a HTTP/1.0\r\n\r\n"), HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_TRUE(client_->server_has_ended);
  client_ = nullptr;
  EXPECT_THAT(send("GET /a HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"), HasSubstr("\r\nConnection: keep-alive\r\n"));
  EXPECT_FALSE(client_->server_has_ended);
}

TEST_F(HttpSessionTest, EndsWhenTheClientWantsItSo) {
  EXPECT_THAT(send("GET /a HTTP/1.1\r\nHost: x\r\nConnection: Close\r\n\r\n" + kGet),
              HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_EQ(handled_, 1U);
  EXPECT_TRUE(client_->server_has_ended);
}

TEST_F(HttpSessionTest, ASlowHeadIsToldSo) {
  send("GET /a HT");
  pass(seconds(9));
  EXPECT_EQ(client_->received, "");
  send("TP");  // more of it gives it no more time
  pass(milliseconds(10'100));
  EXPECT_THAT(client_->received, StartsWith("HTTP/1.1 408 "));
  EXPECT_TRUE(client_->server_has_ended);
}

TEST_F(HttpSessionTest, ASlowBodyIsToldSo) {
  send(post("Content-Length: 5\r\n", "he"));
  pass(seconds(59));
  EXPECT_EQ(client_->received, "");
  send("l");
  pass(milliseconds(60'100));
  EXPECT_THAT(client_->received, StartsWith("HTTP/1.1 408 "));
  EXPECT_EQ(handled_, 0U);
}

TEST_F(HttpSessionTest, AnIdleConnectionEndsWithoutAWord) {
  send(kGet);
  const std::size_t before = client_->received.size();
  pass(seconds(74));
  EXPECT_FALSE(client_->is_closed);
  pass(milliseconds(75'100));
  EXPECT_TRUE(client_->is_closed);
  EXPECT_EQ(client_->received.size(), before);
  EXPECT_EQ(ended_, 1U);
}

TEST_F(HttpSessionTest, AnAnswerHasTheTimeThatItNeeds) {
  holds_ = true;
  send(kGet);
  pass(seconds(3600));
  EXPECT_FALSE(client_->is_closed);
  echo(*held_[0]);
  run();
  EXPECT_THAT(client_->received, EndsWith("<GET /a? >"));
}

TEST_F(HttpSessionTest, AClientThatLeavesIsNoticedWhileItsRequestIsAnswered) {
  holds_ = true;
  send(kGet);
  end();
  EXPECT_FALSE(held_[0]->gone().is_requested());  // it may wait for its answer
  EXPECT_EQ(client_->received, "");
  pass(milliseconds(200));
  EXPECT_EQ(client_->received, "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_FALSE(held_[0]->gone().is_requested());
  reset();
  EXPECT_TRUE(held_[0]->gone().is_requested());
  echo(*held_[0]);
  run();
  EXPECT_EQ(client_->received, "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(ended_, 1U);
}

TEST_F(HttpSessionTest, AClientThatIsResetIsGoneAtOnce) {
  holds_ = true;
  send(kGet);
  client_->end_error = boost::asio::error::connection_reset;
  end();
  EXPECT_TRUE(held_[0]->gone().is_requested());
  EXPECT_EQ(client_->received, "");
  EXPECT_EQ(ended_, 1U);
}

TEST_F(HttpSessionTest, AClientThatHasEndedItsDirectionHasItsAnswer) {
  holds_ = true;
  send(kGet);
  end();
  EXPECT_FALSE(held_[0]->gone().is_requested());
  echo(*held_[0]);
  run();
  EXPECT_THAT(client_->received,
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("\r\nConnection: close\r\n"), EndsWith("<GET /a? >")));
  EXPECT_TRUE(client_->server_has_ended);
  EXPECT_EQ(ended_, 1U);
}

TEST_F(HttpSessionTest, AnAnswerComesBehindTheQuestionWhetherItsClientIsThere) {
  holds_ = true;
  send(kGet);
  end();
  client_->holds_writes = true;
  pass(milliseconds(200));
  echo(*held_[0]);
  run();
  EXPECT_EQ(client_->received, "HTTP/1.1 100 Continue\r\n\r\n");
  client_->let_write(io_);
  run();
  EXPECT_THAT(client_->received,
              AllOf(StartsWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 "), EndsWith("<GET /a? >")));
  EXPECT_EQ(ended_, 1U);
}

TEST_F(HttpSessionTest, AClientOfHttpOneZeroIsNotAskedWhetherItIsThere) {
  holds_ = true;
  send("GET /a HTTP/1.0\r\n\r\n");
  end();
  pass(seconds(3600));
  EXPECT_EQ(client_->received, "");
  echo(*held_[0]);
  run();
  EXPECT_THAT(client_->received, EndsWith("<GET /a? >"));
}

TEST_F(HttpSessionTest, WhatWasCompleteBeforeTheEndOfTheClientsDirectionIsAnswered) {
  holds_ = true;
  send(kGet + "GET /b HTTP/1.1\r\nHost: x\r\n\r\nGET /c HTTP");
  end();
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(held_.size(), i + 1);
    echo(*held_[i]);
    run();
  }
  EXPECT_THAT(client_->received, AllOf(HasSubstr("<GET /a? >HTTP/1.1 200 "), EndsWith("<GET /b? >")));
  EXPECT_TRUE(client_->is_closed);
  EXPECT_EQ(ended_, 1U);
}

TEST_F(HttpSessionTest, AClientThatLeavesInTheMiddleOfItsRequestCausesNone) {
  for (const std::string& part : {std::string("GET /a"), post("Content-Length: 5\r\n", "he"),
                                  post("Transfer-Encoding: chunked\r\n", "5\r\nhe")}) {
    client_ = nullptr;
    send(part);
    end();
    EXPECT_TRUE(client_->is_closed);
    EXPECT_EQ(client_->received, "");
  }
  EXPECT_EQ(handled_, 0U);
  EXPECT_EQ(ended_, 3U);
}

TEST_F(HttpSessionTest, ARequestThatIsDroppedIsAnswered) {
  holds_ = true;
  send(kGet);
  held_.clear();
  run();
  EXPECT_THAT(client_->received, StartsWith("HTTP/1.1 500 "));
}

TEST_F(HttpSessionTest, WhatAClientStillSendsAfterAnErrorIsReadSoThatItSeesTheAnswer) {
  send(post("Content-Length: 200000\r\n", ""));
  EXPECT_THAT(client_->received, StartsWith("HTTP/1.1 413 "));
  for (int i = 0; i < 20; ++i)
    send(std::string(10'000, 'x'));
  EXPECT_TRUE(client_->pieces.empty());
  EXPECT_FALSE(client_->is_closed);
  pass(milliseconds(2100));  // but not for ever
  EXPECT_TRUE(client_->is_closed);
}

// Clients that read no answer before they have sent all of a body lose it to a reset otherwise.
TEST_F(HttpSessionTest, ABodyThatIsRefusedIsReadHoweverLargeItIs) {
  send(post("Content-Length: 100000000\r\n", ""));
  const std::string piece(1'000'000, 'x');
  for (int i = 0; i < 100 && !client_->is_closed; ++i)
    send(piece);
  EXPECT_TRUE(client_->pieces.empty());
  EXPECT_FALSE(client_->is_closed);
  EXPECT_THAT(client_->received, StartsWith("HTTP/1.1 413 "));
}

TEST_F(HttpSessionTest, ARequestThatComesWhileTheServerEndsIsAnsweredAsTheLast) {
  send(kGet);
  shared_.is_ending = true;
  session_.lock()->end_when_idle();
  run();
  EXPECT_FALSE(client_->is_closed);  // it may have been sent already
  EXPECT_THAT(send(kGet), HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_EQ(handled_, 2U);
  EXPECT_TRUE(client_->server_has_ended);
}

TEST_F(HttpSessionTest, AnIdleConnectionIsNotWaitedForWhenTheServerEnds) {
  send(kGet);
  shared_.is_ending = true;
  session_.lock()->end_when_idle();
  run();
  pass(milliseconds(600));
  EXPECT_TRUE(client_->is_closed);
}

TEST_F(HttpSessionTest, ARequestInProgressEndsBeforeTheServer) {
  holds_ = true;
  send(kGet);
  shared_.is_ending = true;
  session_.lock()->end_when_idle();
  run();
  EXPECT_FALSE(client_->is_closed);
  echo(*held_[0]);
  run();
  EXPECT_THAT(client_->received, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_TRUE(client_->server_has_ended);
}

class PacedSessionTest : public HttpSessionTest {
 protected:
  // Every refusal has its connection wait for as long as any does.
  PacedSessionTest() {
    shared_.pace = std::make_unique<RefusalPace>(1e-12);
    shared_.handler = [this](const ExchangePtr& exchange) {
      ++handled_;
      HttpResponse response;
      response.status = exchange->request().path == "/busy" ? 429 : 200;
      response.is_paced = response.status == 429;
      exchange->answer(std::move(response));
    };
  }
  // As send(), but without waiting for what takes time.
  void send_now(std::string bytes) {
    open();
    client_->pieces.push_back(std::move(bytes));
    io_.restart();
    io_.poll();
  }
  static constexpr std::string_view kBusy = "GET /busy HTTP/1.1\r\nHost: x\r\n\r\n";
};

TEST_F(PacedSessionTest, WhoWasRefusedWaitsBeforeTheNextRequestIsRead) {
  const auto begin = steady_clock::now();
  send_now(std::string(kBusy) + kGet);
  EXPECT_THAT(client_->received, StartsWith("HTTP/1.1 429 "));
  EXPECT_EQ(handled_, 1U);
  run();
  EXPECT_EQ(handled_, 2U);
  EXPECT_THAT(client_->received, HasSubstr("HTTP/1.1 200 "));
  EXPECT_GE(steady_clock::now() - begin, RefusalPace::kLongest - milliseconds(100));
}

TEST_F(PacedSessionTest, OthersDoNotWait) {
  send_now(kGet + kGet + std::string(kBusy));
  EXPECT_EQ(handled_, 3U);
  session_.lock()->abort();
}

TEST_F(PacedSessionTest, AnEndEndsTheWait) {
  send_now(std::string(kBusy) + kGet);
  EXPECT_EQ(handled_, 1U);
  session_.lock()->end_when_idle();
  io_.poll();
  EXPECT_EQ(handled_, 2U);
}

TEST_F(PacedSessionTest, AClientThatLeavesEndsIt) {
  send_now(std::string(kBusy));
  EXPECT_EQ(ended_, 0U);
  client_->has_ended = true;
  PieceStream::serve(io_, *client_);
  io_.poll();
  EXPECT_EQ(ended_, 1U);
  EXPECT_TRUE(client_->is_closed);
}

TEST_F(HttpSessionTest, OneTooManyIsToldSoWhateverItAsks) {
  unsigned count = 0;
  for (const std::string& asked : {kGet, post("Content-Length: 2\r\n", "he"), post("Content-Length: 50000\r\n", "he"),
                                   "GET /live HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhe"s}) {
    open_beyond_limit();
    EXPECT_THAT(send(asked), StartsWith("HTTP/1.1 503 ")) << asked;
    EXPECT_THAT(client_->received, AllOf(HasSubstr("too many connections"), HasSubstr("\r\nConnection: close\r\n")));
    end();
    EXPECT_TRUE(client_->is_closed);
    EXPECT_EQ(ended_, ++count);
  }
  EXPECT_EQ(handled_, 0U);
}

TEST_F(HttpSessionTest, OneTooManyMayProbeOnce) {
  open_beyond_limit();
  const std::string probe = "GET /live HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_THAT(send({probe.substr(0, 9), probe.substr(9) + probe}), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(client_->received, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_TRUE(client_->server_has_ended);
  EXPECT_EQ(handled_, 1U);
}

// One time for all: whoever sends a byte now and then has no more of it.
TEST_F(HttpSessionTest, OneTooManyHasLittleTime) {
  for (const std::string& sent : {""s, "GET /live HTTP"s}) {
    open_beyond_limit();
    if (!sent.empty()) send(sent);
    pass(milliseconds(1000));
    EXPECT_EQ(client_->received, "");
    if (!sent.empty()) send("/1.1\r\n");
    pass(milliseconds(2100));
    EXPECT_THAT(client_->received, StartsWith("HTTP/1.1 503 ")) << sent;
    EXPECT_TRUE(client_->server_has_ended);
  }
  EXPECT_EQ(handled_, 0U);
}

TEST_F(HttpSessionTest, DamagedHeadsOfOneTooManyAreRefusedAsSuch) {
  open_beyond_limit();
  EXPECT_THAT(send("GET /live\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_EQ(handled_, 0U);
}

TEST_F(HttpSessionTest, NoMemoryForTheHandlerIsAnAnswer) {
  shared_.handler = [](const ExchangePtr& /*exchange*/) { throw std::bad_alloc(); };
  open();
  client_->pieces.push_back(kGet);
  run();
  EXPECT_THAT(client_->received, StartsWith("HTTP/1.1 500 "));
}

}  // namespace
}  // namespace latebind::server
