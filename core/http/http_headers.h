// HttpHeaders: the headers of an answer, and readers of the values that several clients need. Also shown_url(), the
// form of an address in messages.
//
// Pure functions; any thread. They throw no exceptions but std::bad_alloc.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace latebind::core {

// Names are in lower case.
using HttpHeaders = std::map<std::string, std::string, std::less<>>;

// Returns the value of a header, or "".
[[nodiscard]] std::string_view header_value(const HttpHeaders& headers, std::string_view name);

// Parses a size in decimal digits.
[[nodiscard]] std::optional<std::uint64_t> parse_byte_count(std::string_view text);

// The position of the first byte of a partial answer: 100 for "bytes 100-199/200".
[[nodiscard]] std::optional<std::uint64_t> parse_range_start(std::string_view content_range);

// The waiting time in Retry-After: seconds, or an HTTP date relative to `now`. Never negative.
[[nodiscard]] std::optional<std::chrono::seconds> parse_retry_after(std::string_view text,
                                                                    std::chrono::system_clock::time_point now);

// The address without parts that may be secret: user, password, query.
[[nodiscard]] std::string shown_url(std::string_view url);

}  // namespace latebind::core
