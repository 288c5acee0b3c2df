// One text at a time, asked of a running daemon over HTTP and embedded in this process, in turn: what the daemon adds.
//
//   lone_text LIBRARY MODEL_DIR CORPUS PORT [TEXTS=400]
//
// The daemon serves the same model, called "model", at 127.0.0.1:PORT without a key; both have the latency hint. Each
// text is run once by each before it is timed. Prints one JSON object, in milliseconds; `extra_p50_ms` is the median of
// the differences text by text.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/yardstick.h"
#include "latebind/latebind.hpp"

namespace {

using namespace latebind;         // NOLINT: a program of one file, all of it about this
using namespace latebind::bench;  // NOLINT
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double percentile(std::vector<double> values, std::size_t percent) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) * percent / 100];
}

// A connection that is kept.
class Client {
 public:
  explicit Client(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int one = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      die(fmt::format("no daemon at port {}", port));
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { ::close(socket_); }

  // Ends the program unless the answer is a vector.
  void ask(const std::string& request) {
    if (::send(socket_, request.data(), request.size(), 0) != static_cast<ssize_t>(request.size())) die("cannot send");
    received_.clear();
    std::size_t size = std::string::npos;
    while (received_.size() < size) {
      char piece[16384];
      const ssize_t count = ::recv(socket_, piece, sizeof piece, 0);
      if (count <= 0) die("the daemon left");
      received_.append(piece, static_cast<std::size_t>(count));
      const std::size_t head = received_.find("\r\n\r\n");
      if (size != std::string::npos || head == std::string::npos) continue;
      constexpr std::string_view kLength = "Content-Length: ";
      const std::size_t at = received_.find(kLength);
      if (!received_.starts_with("HTTP/1.1 200 ") || at == std::string::npos) die(received_);
      size = head + 4 + std::strtoull(received_.c_str() + at + kLength.size(), nullptr, 10);
    }
  }

 private:
  int socket_;
  std::string received_;
};

std::string request_for(std::string_view text) {
  std::string body = R"({"model":"model","encoding_format":"base64","input":")";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\' || static_cast<unsigned char>(letter) < ' ') {
      body += fmt::format("\\u{:04x}", static_cast<unsigned char>(letter));
    } else {
      body += letter;
    }
  }
  body += "\"}";
  return fmt::format(
      "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
      "{}\r\n\r\n{}",
      body.size(), body);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) die("usage: lone_text LIBRARY MODEL_DIR CORPUS PORT [TEXTS=400]");
  const auto count = static_cast<std::size_t>(argc > 5 ? std::max(1, std::atoi(argv[5])) : 400);
  std::vector<std::string> texts;
  std::ifstream corpus(argv[3]);
  for (std::string line; std::getline(corpus, line);) {
    if (!line.empty()) texts.push_back(line);
  }
  if (texts.empty()) die("there is no text in the corpus");
  const auto runtime = Runtime::create({{"openvino.library", argv[1]}});
  if (!runtime) die(runtime.status().message());
  const auto embedder =
      runtime->open_embedder(argv[2], {{"device", "openvino:CPU"}, {"hint", "latency"}, {"strict", "true"}});
  if (!embedder) die(embedder.status().message());
  Client client(std::atoi(argv[4]));

  std::vector<double> asked;
  std::vector<double> embedded;
  std::vector<double> extra;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& text = texts[i * texts.size() / count];
    const std::string request = request_for(text);
    const auto ask = [&] {
      const auto start = Clock::now();
      client.ask(request);
      return ms_since(start);
    };
    const auto embed = [&] {
      const auto start = Clock::now();
      if (const auto vector = embedder->embed(text); !vector) die(vector.status().message());
      return ms_since(start);
    };
    ask();
    embed();
    for (int round = 0; round < 4; ++round) {  // who is first finds the caches as the other left them
      double here = 0;
      if (round % 2 == 0) here = embed();
      asked.push_back(ask());
      if (round % 2 != 0) here = embed();
      embedded.push_back(here);
      extra.push_back(asked.back() - here);
    }
  }
  fmt::print(
      "{{\"daemon_p50_ms\": {:.3f}, \"in_process_p50_ms\": {:.3f}, \"extra_p50_ms\": {:.3f}, \"daemon_p95_ms\": "
      "{:.3f}, "
      "\"in_process_p95_ms\": {:.3f}}}\n",
      percentile(asked, 50), percentile(embedded, 50), percentile(extra, 50), percentile(asked, 95),
      percentile(embedded, 95));
  return 0;
}
