#include "server/transport/response_head.h"

#include <array>
#include <chrono>
#include <iterator>
#include <string_view>

#include "core/text/format_to.h"

namespace latebind::server {
namespace {

// The time in the form of HTTP ("Sun, 06 Nov 1994 08:49:37 GMT"). Each thread formats it once a second.
std::string_view date_now() {
  static constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  thread_local std::chrono::sys_seconds second{};
  thread_local std::string text;
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (now != second) {
    const auto day = std::chrono::floor<std::chrono::days>(now);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(now - day);
    text = fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[std::chrono::weekday(day).c_encoding()],
                       static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
                       static_cast<int>(date.year()), time.hours().count(), time.minutes().count(),
                       time.seconds().count());
    second = now;
  }
  return text;
}

std::string_view line_of(ConnectionHeader connection) {
  switch (connection) {
    case ConnectionHeader::kNone:
      return {};
    case ConnectionHeader::kKeepAlive:
      return "Connection: keep-alive\r\n";
    case ConnectionHeader::kClose:
      return "Connection: close\r\n";
  }
  return {};
}

}  // namespace

void write_response_head(const HttpResponse& response, ConnectionHeader connection, std::string& out) {
  out.clear();
  auto to = std::back_inserter(out);
  fmt::format_to(to, "HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status, reason_of(response.status), date_now());
  if (response.status != 204 && response.status != 304) {
    fmt::format_to(to, "Content-Length: {}\r\n", response.body.size());
    if (!response.content_type.empty()) fmt::format_to(to, "Content-Type: {}\r\n", response.content_type);
  }
  for (const auto& [name, value] : response.headers)
    fmt::format_to(to, "{}: {}\r\n", name, value);
  fmt::format_to(to, "{}\r\n", line_of(connection));
}

}  // namespace latebind::server
