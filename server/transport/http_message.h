// An HTTP request and an HTTP response, independent of a connection. Values.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latebind::server {

// Names are in lower case. A name may occur several times.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method{};                 // "POST"
  std::string path{};                   // percent-decoded, UTF-8, without the query: "/v1/models/a b"
  std::vector<std::string> segments{};  // of the path, each decoded separately: "v1", "models", "a b"
  std::string query{};                  // as sent, without '?'
  HttpHeaders headers{};
  std::string body{};
  std::chrono::steady_clock::time_point arrived{};  // time of the first byte
  std::chrono::system_clock::time_point arrived_at{};

  // Returns the first value, or "" if the header is absent.
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
  HttpHeaders headers{};                          // besides Content-Length, Date and Connection
  std::string body{};
  bool close = false;     // closes the connection afterwards
  bool is_paced = false;  // a refusal, after which the connection may have to wait (RefusalPace)

  void set(std::string name, std::string value) { headers.emplace_back(std::move(name), std::move(value)); }
};

// "Not Found". Empty for an unknown status.
[[nodiscard]] std::string_view reason_of(unsigned status);

}  // namespace latebind::server
