#include "core/text/utc_time.h"

#include <fmt/format.h>

namespace latebind::core {
namespace {

// Formats the time to the second, without the zone.
std::string until_seconds(std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

}  // namespace

std::string utc_text(std::chrono::system_clock::time_point time) {
  return until_seconds(std::chrono::floor<std::chrono::seconds>(time)) + "Z";
}

std::string utc_text_ms(std::chrono::system_clock::time_point time) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(time);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(ms);
  return fmt::format("{}.{:03}Z", until_seconds(seconds), (ms - seconds).count());
}

}  // namespace latebind::core
