#include "core/http/http_headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

#include "core/text/quote.h"

namespace latebind::core {
namespace {

std::optional<unsigned> parse_part(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// Parses a date such as "Sun, 06 Nov 1994 08:49:37 GMT", the only form that servers may send today. Seconds, because
// the clock's own unit ends in the year 2262.
std::optional<std::chrono::sys_seconds> parse_date(std::string_view text) {
  constexpr std::size_t kLength = 29;
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != kLength || !text.ends_with(" GMT") || text.substr(3, 2) != ", ") return std::nullopt;
  const auto day = parse_part(text.substr(5, 2));
  const auto* month = std::ranges::find(kMonths, text.substr(8, 3));
  const auto year = parse_part(text.substr(12, 4));
  const auto hours = parse_part(text.substr(17, 2));
  const auto minutes = parse_part(text.substr(20, 2));
  const auto seconds = parse_part(text.substr(23, 2));
  if (!day || month == kMonths.end() || !year || !hours || !minutes || !seconds || *hours > 23 || *minutes > 59 ||
      *seconds > 60) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(static_cast<unsigned>(month - kMonths.begin()) + 1),
                                         std::chrono::day(*day));
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(*hours) + std::chrono::minutes(*minutes) +
         std::chrono::seconds(*seconds);
}

}  // namespace

std::string_view header_value(const HttpHeaders& headers, std::string_view name) {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<std::uint64_t> parse_byte_count(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_range_start(std::string_view content_range) {
  constexpr std::string_view kUnit = "bytes ";
  if (!content_range.starts_with(kUnit)) return std::nullopt;
  content_range.remove_prefix(kUnit.size());
  return parse_byte_count(content_range.substr(0, content_range.find('-')));
}

std::optional<std::chrono::seconds> parse_retry_after(std::string_view text,
                                                      std::chrono::system_clock::time_point now) {
  constexpr std::chrono::seconds kMost = std::chrono::hours(24 * 365);
  if (const auto seconds = parse_byte_count(text)) {
    return std::min(kMost, std::chrono::seconds(std::min<std::uint64_t>(*seconds, 1U << 30U)));
  }
  const auto date = parse_date(text);
  if (!date) return std::nullopt;
  return std::clamp(*date - std::chrono::floor<std::chrono::seconds>(now), std::chrono::seconds(0), kMost);
}

std::string shown_url(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return printable(url);
  const std::string_view rest = url.substr(scheme + 3);
  const auto at = rest.substr(0, rest.find('/')).rfind('@');
  return printable(
      fmt::format("{}{}", url.substr(0, scheme + 3), at == std::string_view::npos ? rest : rest.substr(at + 1)));
}

}  // namespace latebind::core
