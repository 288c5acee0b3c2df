// HttpSession: clients that were refused wait, and connections above the limit.
#include "tests/server/transport/session_fixture.h"

namespace latebind::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using std::string_literals::operator""s;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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
