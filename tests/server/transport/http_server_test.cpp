// HttpServer over sockets of the system: addresses, limits and the end.
#include "server/transport/http_server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <random>
#include <thread>

#include "tests/support/latch.h"
#ifndef _WIN32
#include <boost/asio/local/stream_protocol.hpp>
#endif

namespace latebind::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kAsk = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr const char* kAskLast = "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
// Wants 150,000 bytes behind it.
constexpr const char* kLargeLast = "POST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 150000\r\n\r\n";

void hello(const ExchangePtr& exchange) {
  HttpResponse response;
  response.content_type = "text/plain";
  response.body = "hello";
  exchange->answer(std::move(response));
}

HttpResponse refused(const Refusal& refusal, unsigned status, const HttpRequest* /*head*/) {
  HttpResponse response;
  response.status = status;
  response.body = refusal.message;
  return response;
}

core::Result<std::unique_ptr<HttpServer>> open(const std::vector<std::string>& addresses,
                                               HttpServer::Handler handler = hello, TransportOptions options = {},
                                               HttpServer::OnTime on_time = {}) {
  for (const std::string& address : addresses)
    options.listen.push_back(*ListenAddress::parse(address));
  const auto screen = [](const HttpRequest& head) -> std::optional<HttpResponse> {
    if (head.path != "/nothing-large") return std::nullopt;
    HttpResponse response;
    response.status = 401;
    response.body = "nothing large";
    return response;
  };
  const auto is_probe = [](const HttpRequest& head) { return head.path == "/live"; };
  return HttpServer::open(options, {.handler = std::move(handler),
                                    .screen = screen,
                                    .is_probe = is_probe,
                                    .refuse = refused,
                                    .on_time = std::move(on_time)});
}

// Of which all bodies and answers together may be held.
core::Result<std::unique_ptr<HttpServer>> open_holding(std::uint64_t bytes_max, HttpServer::Handler handler = hello) {
  TransportOptions options;
  options.held_bytes_max = bytes_max;
  return open({"127.0.0.1:0"}, std::move(handler), options);
}

class Client {
 public:
  explicit Client(const HttpServer& server, std::size_t address = 0) : socket_(io_) {
    const std::string& url = server.addresses()[address];
    const auto port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
    socket_.connect({asio::ip::make_address(url.find('[') == std::string::npos ? "127.0.0.1" : "::1"), port});
  }
  void send(const std::string& bytes) { asio::write(socket_, asio::buffer(bytes)); }
  // Until the server ends the connection.
  std::string rest() {
    std::string bytes;
    error_code end;
    asio::read(socket_, asio::dynamic_buffer(bytes), end);
    return end == asio::error::eof ? bytes : bytes + " (" + end.message() + ")";
  }
  // One answer to kAsk.
  std::string answer(std::string_view end = "hello") {
    std::string bytes;
    while (!bytes.ends_with(end)) {
      std::array<char, 1> one{};
      if (socket_.read_some(asio::buffer(one)) == 1) bytes += one[0];
    }
    return bytes;
  }

 private:
  asio::io_context io_;
  tcp::socket socket_;
};

TEST(HttpServerTest, AnswersAtEveryAddress) {
  const auto server = open({"127.0.0.1:0", "[::1]:0"});
  if (!server.ok()) GTEST_SKIP() << "no IPv6 here: " << server.status().to_string();
  ASSERT_TRUE((*server)->start().ok());
  for (const std::size_t i : {0U, 1U}) {
    Client client(**server, i);
    client.send(kAskLast);
    EXPECT_THAT(client.rest(), StartsWith("HTTP/1.1 200 OK\r\n"));
  }
}

TEST(HttpServerTest, APortThatIsTakenIsBusy) {
  const auto first = open({"127.0.0.1:0"});
  ASSERT_TRUE(first.ok());
  const std::string address = (*first)->addresses()[0].substr(7);
  const auto second = open({address});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), core::StatusCode::kBusy);
  EXPECT_THAT(second.status().to_string(), HasSubstr(address));
}

TEST(HttpServerTest, OneConnectionTooManyIsToldSoAndLaterLetIn) {
  TransportOptions options;
  options.connections_max = 1;
  const auto server = open({"127.0.0.1:0"}, hello, options);
  ASSERT_TRUE((*server)->start().ok());
  {
    Client first(**server);
    first.send(kAsk);
    first.answer();
    Client second(**server);
    second.send(kAsk);
    EXPECT_THAT(second.rest(), StartsWith("HTTP/1.1 503 "));
    first.send(kAskLast);
    first.rest();
  }
  EXPECT_TRUE((*server)->wait_until_idle(steady_clock::now() + seconds(60)));
  Client third(**server);
  third.send(kAskLast);
  EXPECT_THAT(third.rest(), StartsWith("HTTP/1.1 200 "));
}

// However many connections say nothing: the one that has said nothing for longest makes way.
TEST(HttpServerTest, ProbesAreAnsweredAboveTheLimitAndItsReserve) {
  TransportOptions options;
  options.connections_max = 1;
  options.connections_beyond = 4;
  options.probe_time = std::chrono::hours(1);
  const auto server = open({"127.0.0.1:0"}, hello, options);
  ASSERT_TRUE((*server)->start().ok());
  Client only(**server);
  only.send(kAsk);
  only.answer();
  std::deque<Client> silent;
  for (int i = 0; i < 20; ++i) {
    silent.emplace_back(**server);
    Client probe(**server);
    probe.send("GET /live HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(probe.rest(), StartsWith("HTTP/1.1 200 "));
  }
  EXPECT_EQ(silent.front().rest(), "");
  EXPECT_LE((*server)->connections(), 9U);
  // Those in the reserve take no place of the others.
  only.send(kAskLast);
  only.rest();
  const auto end = steady_clock::now() + seconds(60);
  std::string answer;
  while (!answer.starts_with("HTTP/1.1 200 ") && steady_clock::now() < end) {
    Client next(**server);
    next.send(kAskLast);
    answer = next.rest();
  }
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServerTest, ASlowRequestIsToldSoInTime) {
  TransportOptions options;
  options.head_time = std::chrono::milliseconds(150);
  options.body_time = std::chrono::milliseconds(150);
  options.first_time = std::chrono::milliseconds(150);
  const auto server = open({"127.0.0.1:0"}, hello, options);
  ASSERT_TRUE((*server)->start().ok());
  Client head(**server);
  head.send("GET /a");
  Client body(**server);
  body.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe");
  Client idle(**server);
  EXPECT_THAT(head.rest(), StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(body.rest(), StartsWith("HTTP/1.1 408 "));
  EXPECT_EQ(idle.rest(), "");
}

TEST(HttpServerTest, AKeptConnectionEndsWhenItIsIdle) {
  TransportOptions options;
  options.idle_time = std::chrono::milliseconds(150);
  const auto server = open({"127.0.0.1:0"}, hello, options);
  ASSERT_TRUE((*server)->start().ok());
  Client client(**server);
  client.send(kAsk);
  EXPECT_THAT(client.rest(), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServerTest, SleepsUntilSomethingIsDue) {
  std::promise<void> is_late;
  std::atomic<unsigned> calls = 0;
  // Counted from the first call, however late a busy machine makes it.
  steady_clock::time_point due;
  const auto server = open({"127.0.0.1:0"}, hello, {}, [&](steady_clock::time_point now) {
    if (++calls == 1) due = now + std::chrono::milliseconds(300);
    if (now < due) return due;
    is_late.set_value();
    return steady_clock::time_point::max();
  });
  ASSERT_TRUE(server.ok() && (*server)->start().ok());
  // With a connection that waits for its next request; its time is another one.
  Client client(**server);
  client.send(kAsk);
  client.answer();
  (*server)->wake_by(steady_clock::now());
  is_late.get_future().wait();
  EXPECT_GE(steady_clock::now(), due);
  EXPECT_EQ(calls, 2U);
}

// However many connections there are, what they hold together has a limit.
TEST(HttpServerTest, LargeBodiesBeyondWhatMayBeHeldAreTurnedAway) {
  const auto server = open_holding(200'000);
  ASSERT_TRUE((*server)->start().ok());
  Client first(**server);
  first.send(kLargeLast + std::string(149'000, 'x'));
  while ((*server)->held_bytes() < 149'000)
    std::this_thread::yield();
  {
    Client second(**server);
    second.send(kLargeLast + std::string(150'000, 'x'));
    EXPECT_THAT(second.rest(), StartsWith("HTTP/1.1 429 "));
    Client chunked(**server);
    std::string body = "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (int i = 0; i < 20; ++i)
      body += "1000\r\n" + std::string(4096, 'x') + "\r\n";
    chunked.send(body);
    EXPECT_THAT(chunked.rest(), StartsWith("HTTP/1.1 429 "));
    Client small(**server);
    small.send(kAskLast);
    EXPECT_THAT(small.rest(), StartsWith("HTTP/1.1 200 "));
  }
  first.send(std::string(1'000, 'x'));
  EXPECT_THAT(first.rest(), StartsWith("HTTP/1.1 200 "));
  // What was held is free again.
  Client third(**server);
  third.send(kLargeLast + std::string(150'000, 'x'));
  EXPECT_THAT(third.rest(), StartsWith("HTTP/1.1 200 "));
  while ((*server)->held_bytes() > 0)
    std::this_thread::yield();
}

// Clients that announce much and send little keep nobody out.
TEST(HttpServerTest, WhatIsOnlyAnnouncedIsNotHeld) {
  const auto server = open_holding(200'000);
  ASSERT_TRUE((*server)->start().ok());
  std::deque<Client> silent;
  for (int i = 0; i < 10; ++i)
    silent.emplace_back(**server).send(std::string(kLargeLast) + "x");
  Client one(**server);
  one.send(kLargeLast + std::string(150'000, 'x'));
  EXPECT_THAT(one.rest(), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServerTest, ALargeBodyIsReadOnlyOfThoseWhoMayAsk) {
  const auto server = open({"127.0.0.1:0"});
  ASSERT_TRUE((*server)->start().ok());
  const std::string head = "POST /nothing-large HTTP/1.1\r\nHost: x\r\n";
  Client announced(**server);
  announced.send(head + "Content-Length: 150000\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_THAT(announced.rest(), StartsWith("HTTP/1.1 401 "));
  Client chunked(**server);
  std::string body;
  for (int i = 0; i < 5; ++i)
    body += "1000\r\n" + std::string(4096, 'x') + "\r\n";
  chunked.send(head + "Transfer-Encoding: chunked\r\n\r\n" + body);
  EXPECT_THAT(chunked.rest(), StartsWith("HTTP/1.1 401 "));
  Client small(**server);
  small.send(head + "Connection: close\r\nContent-Length: 1\r\n\r\nx");
  EXPECT_THAT(small.rest(), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServerTest, AClientThatLeavesIsNoticedBehindWhatItHasSentAhead) {
  std::promise<ExchangePtr> asked;
  const auto server = open({"127.0.0.1:0"}, [&, is_first = true](ExchangePtr exchange) mutable {
    if (std::exchange(is_first, false)) asked.set_value(std::move(exchange));
  });
  ASSERT_TRUE((*server)->start().ok());
  ExchangePtr exchange;
  {
    Client client(**server);
    client.send(std::string(kAsk) + "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" +
                std::string(200'000, 'x'));
    exchange = asked.get_future().get();
  }
  while (!exchange->gone().is_requested())
    std::this_thread::yield();
}

// The body of a request that is worked on is held, though its client has left.
TEST(HttpServerTest, WhatIsWorkedOnIsHeldUntilItIsOver) {
  std::promise<ExchangePtr> asked;
  const auto server = open_holding(200'000, [&](ExchangePtr exchange) { asked.set_value(std::move(exchange)); });
  ASSERT_TRUE((*server)->start().ok());
  const std::string head = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 150000\r\n\r\n";
  ExchangePtr exchange;
  {
    Client client(**server);
    client.send(head + std::string(150'000, 'x'));
    exchange = asked.get_future().get();
  }
  while (!exchange->gone().is_requested() || (*server)->connections() > 0)
    std::this_thread::yield();
  EXPECT_GE((*server)->held_bytes(), 150'000U);
  EXPECT_FALSE(exchange->reserve(100'000));
  EXPECT_TRUE(exchange->reserve(10'000));
  exchange = nullptr;
  EXPECT_EQ((*server)->held_bytes(), 0U);
}

// The client takes each piece of an answer in time, or leaves it.
TEST(HttpServerTest, AnAnswerOfManyPiecesArrivesWhole) {
  std::string body(5'000'001, 'x');
  for (std::size_t i = 0; i < body.size(); ++i)
    body[i] = static_cast<char>('a' + i * 7 % 26);
  const auto server = open({"127.0.0.1:0"}, [&](const ExchangePtr& exchange) {
    HttpResponse response;
    response.body = body;
    exchange->answer(std::move(response));
  });
  ASSERT_TRUE((*server)->start().ok());
  Client client(**server);
  client.send(kAskLast);
  const std::string answer = client.rest();
  EXPECT_TRUE(answer.ends_with("\r\n\r\n" + body)) << answer.size();
}

TEST(HttpServerTest, WhoDoesNotReadAnAnswerLosesIt) {
  TransportOptions options;
  options.write_time = std::chrono::milliseconds(300);
  const auto server = open(
      {"127.0.0.1:0"},
      [](const ExchangePtr& exchange) {
        HttpResponse response;
        response.body.assign(std::size_t{64} << 20, 'x');
        exchange->answer(std::move(response));
      },
      options);
  ASSERT_TRUE((*server)->start().ok());
  Client client(**server);
  client.send(kAskLast);
  // As soon as its time is up, and not after the time that all of it would have.
  for (const auto end = steady_clock::now() + seconds(30); (*server)->connections() > 0 && steady_clock::now() < end;)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  (*server)->stop_accepting();
  EXPECT_TRUE((*server)->wait_until_idle(steady_clock::now() + seconds(30)));
}

TEST(HttpServerTest, WhatWasAcceptedIsAnsweredBeforeTheEnd) {
  test::Latch is_handled(1);
  test::Latch may_answer(1);
  const auto server = open({"127.0.0.1:0"}, [&](const ExchangePtr& exchange) {
    is_handled.count_down();
    may_answer.wait();
    hello(exchange);
  });
  ASSERT_TRUE((*server)->start().ok());
  Client client(**server);
  client.send(kAsk);
  is_handled.wait();
  (*server)->stop_accepting();
  EXPECT_FALSE((*server)->wait_until_idle(steady_clock::now()));
  may_answer.count_down();
  const std::string answer = client.rest();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_TRUE((*server)->wait_until_idle(steady_clock::now() + seconds(60)));
}

// To its client such a connection has been accepted.
TEST(HttpServerTest, AConnectionThatWaitsToBeAcceptedIsAnsweredBeforeTheEnd) {
  const auto server = open({"127.0.0.1:0"});
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<Client>(**server));
    clients.back()->send(kAsk);
  }
  ASSERT_TRUE((*server)->start().ok());
  (*server)->stop_accepting();
  EXPECT_TRUE((*server)->wait_until_idle(steady_clock::now() + seconds(60)));
  (*server)->stop();
  for (const auto& client : clients)
    EXPECT_THAT(client->rest(), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServerTest, TheEndDoesNotWaitForIdleConnections) {
  const auto server = open({"127.0.0.1:0"});
  ASSERT_TRUE((*server)->start().ok());
  Client client(**server);
  client.send(kAsk);
  client.answer();
  (*server)->stop_accepting();
  EXPECT_TRUE((*server)->wait_until_idle(steady_clock::now() + seconds(60)));
  EXPECT_EQ(client.rest(), "");
}

TEST(HttpServerTest, WorkThatIsPostedAfterTheEndStillRuns) {
  const auto server = open({"127.0.0.1:0"});
  ASSERT_TRUE((*server)->start().ok());
  (*server)->stop();
  bool has_run = false;
  (*server)->post([&] { has_run = true; });
  EXPECT_TRUE(has_run);
}

#ifndef _WIN32

namespace fs = std::filesystem;

class UnixSocketTest : public testing::Test {
 protected:
  UnixSocketTest() : folder_(fs::temp_directory_path() / ("lb-http-" + std::to_string(std::random_device{}()))) {
    fs::create_directory(folder_);
  }
  ~UnixSocketTest() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path() const { return folder_ / "s.sock"; }
  const fs::path folder_;
};

TEST_F(UnixSocketTest, IsForOwnerAndGroupAndGoesAtTheEnd) {
  {
    const auto server = open({"unix:" + path()});
    ASSERT_TRUE(server.ok()) << server.status().to_string();
    EXPECT_EQ((*server)->addresses()[0], "unix:" + path());
    EXPECT_EQ(fs::status(path()).permissions(), fs::perms(0660));
    ASSERT_TRUE((*server)->start().ok());
    asio::io_context io;
    asio::local::stream_protocol::socket socket(io);
    socket.connect({path()});
    asio::write(socket, asio::buffer(kAskLast, std::string_view(kAskLast).size()));
    std::string bytes;
    error_code end;
    asio::read(socket, asio::dynamic_buffer(bytes), end);
    EXPECT_THAT(bytes, StartsWith("HTTP/1.1 200 "));
  }
  EXPECT_FALSE(fs::exists(fs::symlink_status(path())));
}

TEST_F(UnixSocketTest, ALeftOverIsReplaced) {
  {
    asio::io_context io;
    const asio::local::stream_protocol::acceptor left_over(io, {path()});
  }
  ASSERT_TRUE(fs::is_socket(path()));
  const auto server = open({"unix:" + path()});
  EXPECT_TRUE(server.ok()) << server.status().to_string();
}

TEST_F(UnixSocketTest, OneInUseIsBusyAndStays) {
  const auto first = open({"unix:" + path()});
  {
    const auto second = open({"unix:" + path()});
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.status().code(), core::StatusCode::kBusy);
  }
  EXPECT_TRUE(fs::is_socket(path()));
}

// None replaces another's between its bind() and its listen(), where that one looks left over.
TEST_F(UnixSocketTest, OfManyThatStartAtOnceOneHasThePath) {
  constexpr int kRounds = 20;
  constexpr int kStarts = 4;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<decltype(open({}))> servers;
    for (int i = 0; i < kStarts; ++i)
      servers.emplace_back(core::Status(core::StatusCode::kInternal, "not begun"));
    {
      std::vector<std::jthread> threads;
      for (auto& server : servers)
        threads.emplace_back([&] { server = open({"unix:" + path()}); });
    }
    EXPECT_EQ(std::ranges::count_if(servers, [](const auto& server) { return server.ok(); }), 1);
    EXPECT_TRUE(fs::is_socket(path()));
  }
}

TEST_F(UnixSocketTest, AFileThatIsNoSocketStays) {
  { std::ofstream(path()) << "mine"; }
  EXPECT_FALSE(open({"unix:" + path()}).ok());
  EXPECT_EQ(fs::file_size(path()), 4U);
}

TEST_F(UnixSocketTest, NothingIsLeftWhereAnotherAddressCannotBeHad) {
  const auto taken = open({"127.0.0.1:0"});
  EXPECT_FALSE(open({"unix:" + path(), (*taken)->addresses()[0].substr(7)}).ok());
  EXPECT_FALSE(fs::exists(fs::symlink_status(path())));
}

TEST_F(UnixSocketTest, ATooLongPathIsRefused) {
  EXPECT_FALSE(open({"unix:/" + std::string(200, 'a')}).ok());
}

#endif

}  // namespace
}  // namespace latebind::server
