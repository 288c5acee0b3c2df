// HttpSession over a connection in memory: what it takes for a request, and what it does with everything else.
#include "tests/server/transport/session_fixture.h"

namespace latebind::server {
namespace {

using std::string_literals::operator""s;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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

}  // namespace
}  // namespace latebind::server
