// A request and a response of HTTP, without the connection they came over. Values.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latebind::server {

// Names are in lower case; a name may come more than once.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method{};                 // "POST"
  std::string path{};                   // percent-decoded, UTF-8, without the query: "/v1/models/a b"
  std::vector<std::string> segments{};  // of the path, each decoded by itself: "v1", "models", "a b"
  std::string query{};                  // as sent, without '?'
  HttpHeaders headers{};
  std::string body{};
  std::chrono::steady_clock::time_point arrived{};  // its first byte
  std::chrono::system_clock::time_point arrived_at{};

  // The first value, or "" where there is none.
  [[nodiscard]] std::string_view header(std::string_view lower_case_name) const {
    for (const auto& [name, value] : headers) {
      if (name == lower_case_name) return value;
    }
    return {};
  }
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "application/json";  // empty: no body
  HttpHeaders headers{};                          // besides those of the transport: Content-Length, Date, Connection
  std::string body{};
  bool close = false;     // the connection ends after it
  bool is_paced = false;  // a refusal: the connection's next request may have to wait (RefusalPace)

  void set(std::string name, std::string value) { headers.emplace_back(std::move(name), std::move(value)); }
};

// "Not Found"; "" for unknown ones.
[[nodiscard]] std::string_view reason_of(unsigned status);

}  // namespace latebind::server
