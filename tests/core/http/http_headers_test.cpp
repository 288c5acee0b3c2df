// Values of headers, and addresses in messages, well-formed and not.
#include "core/http/http_headers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace latebind::core {
namespace {

using std::chrono::seconds;

TEST(BytesTest, AreDigitsAlone) {
  EXPECT_EQ(parse_byte_count("18446744073709551615"), UINT64_MAX);
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "1e3", "18446744073709551616"}) {
    EXPECT_FALSE(parse_byte_count(text).has_value()) << text;
  }
  EXPECT_EQ(parse_range_start("bytes 100-199/200"), 100U);
  for (const char* text : {"", "bytes", "bytes */200", "items 1-2/3", "bytes -1-2/3"}) {
    EXPECT_FALSE(parse_range_start(text).has_value()) << text;
  }
}

TEST(RetryAfterTest, IsSecondsOrADate) {
  using std::chrono::sys_days;
  const auto now = sys_days(std::chrono::year(1994) / 11 / 6) + std::chrono::hours(8) + std::chrono::minutes(49);
  EXPECT_EQ(parse_retry_after("120", now), seconds(120));
  EXPECT_EQ(parse_retry_after("0", now), seconds(0));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now), seconds(37));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:48:00 GMT", now), seconds(0));
  EXPECT_GE(*parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", now), seconds(1'000'000));
  EXPECT_EQ(parse_retry_after("Sat, 01 Jan 0001 00:00:00 GMT", now), seconds(0));
  EXPECT_GE(*parse_retry_after("18446744073709551615", now), seconds(1'000'000));
  for (const char* text : {"", "soon", "-1", "1.5", "Sun, 06 Nov 1994 08:49:37", "Sun, 31 Feb 1994 08:49:37 GMT",
                           "Sun, 06 Xxx 1994 08:49:37 GMT", "Sun, 06 Nov 1994 28:49:37 GMT"}) {
    EXPECT_FALSE(parse_retry_after(text, now).has_value()) << text;
  }
}

TEST(ShownUrlTest, HidesWhatMayBeASecret) {
  EXPECT_EQ(shown_url("https://user:password@host:8/a/b?signature=x#y"), "https://host:8/a/b");
  EXPECT_EQ(shown_url("https://host/a@b"), "https://host/a@b");
  EXPECT_EQ(shown_url("nonsense?x"), "nonsense");
}

}  // namespace
}  // namespace latebind::core
