#include "cli/terminal/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/terminal/messages.h"
#include "core/platform/standard_streams.h"
#include "core/text/counted.h"

namespace latebind::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRedraw{100};
constexpr double kSecondsShownMax = 99 * 3600.0;

std::string duration(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(std::clamp(seconds, 0.0, kSecondsShownMax)));
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

double share_of(std::uint64_t bytes, std::uint64_t total_bytes) {
  return total_bytes == 0 ? 1.0 : std::min(1.0, static_cast<double>(bytes) / static_cast<double>(total_bytes));
}

// "[====    ]  33 %  "
std::string bar(double share) {
  constexpr std::size_t kBar = 24;
  const auto filled = static_cast<std::size_t>(share * kBar);
  return fmt::format("[{}{}] {:3.0f} %  ", std::string(filled, '='), std::string(kBar - filled, ' '), share * 100);
}

}  // namespace

std::string progress_line(std::uint64_t texts, std::uint64_t bytes, std::optional<std::uint64_t> total_bytes,
                          double seconds, unsigned columns) {
  const double rate = seconds > 0 ? static_cast<double>(texts) / seconds : 0;
  std::string line;
  if (total_bytes && *total_bytes > 0) {
    const double share = share_of(bytes, *total_bytes);
    line = fmt::format("{}{}  {:.0f} texts/s", bar(share), core::counted(texts, "text"), rate);
    if (share > 0) line += fmt::format("  {} left", duration(seconds / share - seconds));
  } else {
    line = fmt::format("{}  {:.0f} texts/s  {} so far", core::counted(texts, "text"), rate, duration(seconds));
  }
  if (line.size() > columns) line.resize(columns);
  return line;
}

std::string loading_line(std::uint64_t bytes, std::uint64_t total_bytes, double seconds, unsigned columns) {
  constexpr double kMega = 1e6;
  const double share = share_of(bytes, total_bytes);
  std::string line = fmt::format("{}{:.1f} of {:.1f} MB  {:.1f} MB/s", bar(share), static_cast<double>(bytes) / kMega,
                                 static_cast<double>(total_bytes) / kMega,
                                 seconds > 0 ? static_cast<double>(bytes) / kMega / seconds : 0);
  if (share > 0) line += fmt::format("  {} left", duration(seconds / share - seconds));
  if (line.size() > columns) line.resize(columns);
  return line;
}

Progress::Progress(std::optional<std::uint64_t> total_bytes, bool quiet, Kind kind)
    : total_bytes_(total_bytes),
      shown_(!quiet && can_wipe_lines()),
      kind_(kind),
      start_(Clock::now()),
      next_draw_(start_) {
  if (shown_) draw(start_);
}

Progress::~Progress() {
  if (!drawn_) return;
  platform::write_to_error_stream("\r\x1b[K");
}

void Progress::advance(std::uint64_t texts, std::uint64_t bytes) {
  texts_ += texts;
  bytes_ += bytes;
  if (!shown_) return;
  const auto now = Clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + kRedraw;
  draw(now);
}

void Progress::draw(Clock::time_point now) {
  const double seconds = std::chrono::duration<double>(now - start_).count();
  // The last column stays free, because some terminals begin a new line there.
  const unsigned columns = platform::error_stream_columns() - 1;
  const std::string line = kind_ == Kind::kTexts ? progress_line(texts_, bytes_, total_bytes_, seconds, columns)
                                                 : loading_line(bytes_, total_bytes_.value_or(0), seconds, columns);
  platform::write_to_error_stream(fmt::format("\r{}\x1b[K", line));
  drawn_ = true;
}

}  // namespace latebind::cli
