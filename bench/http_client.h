// A client of a daemon at 127.0.0.1, for benchmarks: one connection that is kept, requests in one piece, and nothing
// that could be slow. One thread.
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "bench/die.h"

namespace latebind::bench {

class HttpClient {
 public:
  explicit HttpClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int one = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      die(fmt::format("no daemon at port {}", port));
  }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient() { ::close(socket_); }

  // The status of the answer; ends the program where there is none.
  int ask(const std::string& request) {
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
      if (!received_.starts_with("HTTP/1.1 ") || at == std::string::npos) die(received_);
      size = head + 4 + std::strtoull(received_.c_str() + at + kLength.size(), nullptr, 10);
    }
    return std::atoi(received_.c_str() + std::string_view("HTTP/1.1 ").size());
  }
  // All of it.
  [[nodiscard]] const std::string& answer() const { return received_; }

 private:
  int socket_;
  std::string received_;
};

// For the vectors of texts, of the model called "model"; `headers` end with a line's end each.
inline std::string embeddings_request(std::span<const std::string> texts, std::string_view headers = {}) {
  std::string body = R"({"model":"model","encoding_format":"base64","input":[)";
  for (const std::string& text : texts) {
    body += body.ends_with('[') ? "\"" : ",\"";
    for (const char letter : text) {
      if (letter == '"' || letter == '\\' || static_cast<unsigned char>(letter) < ' ') {
        body += fmt::format("\\u{:04x}", static_cast<unsigned char>(letter));
      } else {
        body += letter;
      }
    }
    body += '"';
  }
  body += "]}";
  return fmt::format(
      "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\n{}Content-Type: application/json\r\nContent-Length: "
      "{}\r\n\r\n{}",
      headers, body.size(), body);
}

}  // namespace latebind::bench
