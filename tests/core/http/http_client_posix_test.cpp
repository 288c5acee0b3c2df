// The HTTP client against a server of a few lines that says what a test wants.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/http/http_client.h"

namespace latebind::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Accepts one connection for each answer, reads a request's head and content, answers, and closes the connection. An
// empty answer keeps the connection open and silent until the server ends.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<std::string> answers) : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_, generic, size), 0);
    EXPECT_EQ(::getsockname(listener_, generic, &size), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this, answers = std::move(answers)] {
      for (const std::string& answer : answers)
        serve(answer);
    });
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  ~ScriptedServer() {
    join();
    for (const int socket : silent_)
      ::close(socket);
    ::close(listener_);
  }

  [[nodiscard]] const std::string& url() const { return url_; }
  // The requests, once all are answered.
  const std::vector<std::string>& requests() {
    join();
    return requests_;
  }

 private:
  void join() {
    if (thread_.joinable()) thread_.join();
  }

  void serve(const std::string& answer) {
    const int socket = ::accept(listener_, nullptr, nullptr);
    std::string& request = requests_.emplace_back();
    std::size_t wanted = std::string::npos;
    for (char bytes[4096]; request.size() < wanted;) {
      const ssize_t count = ::recv(socket, bytes, sizeof bytes, 0);
      if (count <= 0) break;
      request.append(bytes, static_cast<std::size_t>(count));
      const std::size_t head = request.find("\r\n\r\n");
      constexpr std::string_view kLength = "Content-Length: ";
      const std::size_t length = request.find(kLength);
      if (head == std::string::npos) continue;
      wanted = head + 4 + (length < head ? std::stoul(request.substr(length + kLength.size())) : 0);
    }
    if (answer.empty()) {
      silent_.push_back(socket);
      return;
    }
    for (std::string_view rest = answer; !rest.empty();) {
      const ssize_t count = ::send(socket, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (count <= 0) break;
      rest.remove_prefix(static_cast<std::size_t>(count));
    }
    ::close(socket);
  }

  const int listener_;
  std::string url_;
  std::vector<std::string> requests_;
  std::vector<int> silent_;
  std::thread thread_;
};

HttpClient client() {
  auto made = HttpClient::make({.purpose = "the test", .alternative = "skip it", .address_setting = "THE_SETTING"});
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  return *std::move(made);
}

HttpRequest request_to(const std::string& url) {
  HttpRequest request;
  request.url = url;
  request.uses_proxy = false;
  return request;
}

TEST(HttpClientTest, PostsContentAndKeepsTheAnswer) {
  ScriptedServer server({"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX-Name:  value \r\n\r\nthe answer"});
  HttpClient http = client();
  HttpRequest request = request_to(server.url() + "/path");
  const std::string content(100'000, 'x');
  request.method = HttpMethod::kPost;
  request.headers = {"Content-Type: text/plain"};
  request.content = content;
  std::string text = "what was there before";
  const HttpOutcome outcome = http.exchange(request, body_into(text, 10));
  EXPECT_TRUE(outcome.status.ok()) << outcome.status.to_string();
  EXPECT_EQ(outcome.answer.status, 200);
  EXPECT_EQ(header_value(outcome.answer.headers, "x-name"), "value");
  EXPECT_EQ(text, "the answer");
  EXPECT_THAT(server.requests()[0],
              AllOf(StartsWith("POST /path HTTP/1.1\r\n"), HasSubstr("Content-Type: text/plain\r\n"),
                    Not(HasSubstr("Expect:")), HasSubstr("\r\n\r\n" + content)));
}

TEST(HttpClientTest, AsksForTheRest) {
  ScriptedServer server({"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 3-5/6\r\nContent-Length: 3\r\n\r\ndef"});
  HttpRequest request = request_to(server.url());
  request.from = 3;
  std::string text;
  const HttpOutcome outcome = client().exchange(request, body_into(text, 3));
  EXPECT_EQ(outcome.answer.status, 206);
  EXPECT_EQ(parse_range_start(header_value(outcome.answer.headers, "content-range")), 3U);
  EXPECT_EQ(text, "def");
  EXPECT_THAT(server.requests()[0], HasSubstr("\r\nRange: bytes=3-\r\n"));
}

TEST(HttpClientTest, RefusesABodyThatIsTooLong) {
  ScriptedServer server({"HTTP/1.1 200 OK\r\n\r\n0123456789", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"});
  HttpClient http = client();
  std::string text;
  const HttpOutcome outcome = http.exchange(request_to(server.url()), body_into(text, 9));
  EXPECT_EQ(outcome.failure, HttpFailure::kBody);
  EXPECT_EQ(outcome.status.code(), StatusCode::kInvalidModel);
  EXPECT_THAT(outcome.status.to_string(), HasSubstr("longer than 9 bytes"));
  // The client can be used again, and an empty body is a body.
  text = "old";
  EXPECT_TRUE(http.exchange(request_to(server.url()), body_into(text, 9)).status.ok());
  EXPECT_EQ(text, "");
}

TEST(HttpClientTest, DropsTheBodyOfAnErrorAndReadsLittleOfIt) {
  // Says that far more follows than it sends: waiting for that would fail.
  ScriptedServer server(
      {"HTTP/1.1 404 Not Found\r\nContent-Length: 1000000000000\r\n\r\n" + std::string(3 << 20, 'x')});
  std::string text;
  const HttpOutcome outcome = client().exchange(request_to(server.url()), body_into(text, 9));
  EXPECT_TRUE(outcome.status.ok()) << outcome.status.to_string();
  EXPECT_EQ(outcome.answer.status, 404);
  EXPECT_EQ(text, "");
}

TEST(HttpClientTest, ReportsRedirectsWithoutFollowingThem) {
  ScriptedServer server({"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"});
  const HttpOutcome outcome = client().exchange(request_to(server.url()), {});
  EXPECT_EQ(outcome.answer.status, 302);
  EXPECT_EQ(outcome.answer.redirect, server.url() + "/elsewhere");
}

TEST(HttpClientTest, KeepsABoundedNumberOfHeaders) {
  std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n";
  for (int i = 0; i < 400; ++i)
    answer += "X-" + std::to_string(i) + ": y\r\n";
  ScriptedServer server({answer + "\r\n"});
  const HttpOutcome outcome = client().exchange(request_to(server.url()), {});
  EXPECT_EQ(outcome.answer.status, 200);
  EXPECT_EQ(outcome.answer.headers.size(), 200U);
}

TEST(HttpClientTest, LeavesAServerThatSaysNothing) {
  ScriptedServer server({"", ""});
  HttpClient http = client();
  HttpRequest request = request_to(server.url());
  request.whole_timeout = milliseconds(100);
  const HttpOutcome late = http.exchange(request, {});
  EXPECT_EQ(late.failure, HttpFailure::kTransient);
  EXPECT_EQ(late.status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(late.status.to_string(), HasSubstr("cannot reach " + server.url() + ": it did not answer in time"));

  std::atomic<bool> is_asked = false;
  request.whole_timeout = seconds(300);
  request.is_cancelled = [&] { return is_asked.exchange(true); };
  const HttpOutcome cancelled = http.exchange(request, {});
  EXPECT_EQ(cancelled.failure, HttpFailure::kBody);
  EXPECT_EQ(cancelled.status.code(), StatusCode::kCancelled);
}

TEST(HttpClientTest, SaysWhatIsWrongWithAnAddress) {
  HttpClient http = client();
  for (const char* url : {"ftp://host/x", "file:///etc/passwd", "gopher://x", "nonsense://x", "http://", ""}) {
    const HttpOutcome outcome = http.exchange(request_to(url), {});
    EXPECT_EQ(outcome.failure, HttpFailure::kPermanent) << url;
    EXPECT_EQ(outcome.status.code(), StatusCode::kInvalidArgument) << url;
    EXPECT_THAT(outcome.status.to_string(), HasSubstr("is not an HTTP address; check THE_SETTING")) << url;
  }
  EXPECT_EQ(http.origin_of("https://user@host/path"), "https://host:443");
  EXPECT_EQ(http.origin_of("file:///x"), "");
}

TEST(HttpClientTest, ABodyThatFailsEndsTheExchange) {
  ScriptedServer server({"HTTP/1.1 200 OK\r\n\r\n0123456789", "HTTP/1.1 200 OK\r\n\r\n0123456789"});
  HttpClient http = client();
  HttpBody body;
  body.write = [](std::string_view) { return Status(StatusCode::kIo, "the disk is full"); };
  EXPECT_EQ(http.exchange(request_to(server.url()), body).status.message(), "the disk is full");
  body.write = [](std::string_view) -> Status { throw std::bad_alloc(); };
  EXPECT_EQ(http.exchange(request_to(server.url()), body).status.code(), StatusCode::kOutOfMemory);
}

}  // namespace
}  // namespace latebind::core
