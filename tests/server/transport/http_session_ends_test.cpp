// HttpSession: slow clients, clients that leave, and the end of connections and of the server.
#include "tests/server/transport/session_fixture.h"

namespace latebind::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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

}  // namespace
}  // namespace latebind::server
