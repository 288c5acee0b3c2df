#include "server/observe/request_log.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/json/ascii.h"
#include "core/json/value.h"
#include "core/text/counted.h"
#include "core/text/format_to.h"
#include "core/text/name_character.h"
#include "core/text/quote.h"
#include "core/text/utc_time.h"
#include "core/threads/bounded_worker.h"
#include "core/threads/mutex.h"
#include "server/observe/traces.h"

namespace latebind::server {
namespace {

constexpr std::size_t kWordMax = 128;  // the limit, in bytes, for anything that a client chose

double ms_of(std::chrono::steady_clock::duration time) {
  return std::max(0.0, std::chrono::duration<double, std::milli>(time).count());
}

// As JSON shows it: to microseconds.
double rounded_ms(std::chrono::steady_clock::duration time) {
  return std::round(ms_of(time) * 1000.0) / 1000.0;
}

// Quotes a client's word unless it is unambiguous.
std::string word(std::string_view text) {
  const bool is_plain = !text.empty() && text.size() <= kWordMax && std::all_of(text.begin(), text.end(), [](char c) {
    return core::is_name_character(c) || c == '/' || c == ':';
  });
  return is_plain ? std::string(text) : core::quoted(text, kWordMax);
}

std::string text_line(const RequestRecord& record, std::uint64_t left_out) {
  std::string line;
  const auto add = [&line]<class... T>(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(line), format, std::forward<T>(values)...);
  };
  add("{} {} {} {:.1f} ms", word(record.method), record.path.empty() ? "(no request)" : word(record.path),
      record.status, ms_of(record.answered - record.arrived));
  if (!record.refusal.empty()) add(" {}", word(record.refusal));
  if (record.texts > 0) add(" {}", core::counted(record.texts, "text"));
  if (record.tokens > 0) add(" {}", core::counted(record.tokens, "token"));
  if (record.truncated_texts > 0) add(" {} cut", record.truncated_texts);
  if (!record.device.empty()) add(" {} {}", word(record.device), word(record.precision));
  if (record.fallback) add(" fallback");
  if (!record.model.empty()) add(" model={}", word(record.model));
  if (!record.id.empty()) add(" id={}", word(record.id));
  add(" trace={}", hex_of(record.trace));
  if (left_out > 0) add(" ({} left out before)", core::counted(left_out, "line"));
  return line;
}

std::string json_line(const RequestRecord& record, std::uint64_t left_out) {
  core::Json line;
  const auto add_word = [&](const char* name, std::string_view text) {
    if (!text.empty()) line[name] = text.size() <= kWordMax ? std::string(text) : core::printable(text, kWordMax);
  };
  const auto add_count = [&](const char* name, std::uint64_t count) {
    if (count > 0) line[name] = count;
  };
  const auto add_time = [&](const char* name, std::chrono::steady_clock::duration time) {
    if (time.count() > 0) line[name] = rounded_ms(time);
  };
  line["time"] = core::utc_text_ms(record.arrived_at);
  add_word("id", record.id);
  line["trace"] = hex_of(record.trace);
  add_word("method", record.method);
  add_word("path", record.path);
  add_word("route", record.route);
  add_word("protocol", record.protocol);
  add_word("model", record.model);
  line["status"] = record.status;
  add_word("refusal", record.refusal);
  line["ms"] = rounded_ms(record.answered - record.arrived);
  add_time("tokenize_ms", record.tokenizing);
  add_time("queue_ms", record.waiting);
  add_time("compute_ms", record.computing);
  add_count("texts", record.texts);
  add_count("characters", record.characters);
  add_count("tokens", record.tokens);
  add_count("truncated_texts", record.truncated_texts);
  add_count("request_bytes", record.request_bytes);
  add_count("response_bytes", record.response_bytes);
  add_word("device", record.device);
  add_word("precision", record.precision);
  if (record.fallback) line["fallback"] = true;
  if (record.client_gone) line["client_gone"] = true;
  add_count("left_out", left_out);
  // Only ASCII, because some readers split lines at other characters than '\n'.
  return core::ascii_json(line.dump());
}

std::string line_of(const RequestRecord& record, LogFormat format, std::uint64_t left_out) {
  return format == LogFormat::kJson ? json_line(record, left_out) : text_line(record, left_out);
}

}  // namespace

struct RequestLog::State {
  State(LogFormat given_format, unsigned lines_max, std::function<void(std::string_view)> given_write)
      : format(given_format), lines_per_s_max(lines_max), write(std::move(given_write)) {}

  const LogFormat format;
  const unsigned lines_per_s_max;
  const std::function<void(std::string_view)> write;

  core::Mutex mutex;
  std::chrono::steady_clock::time_point second_began LB_GUARDED_BY(mutex){};
  unsigned lines_of_second LB_GUARDED_BY(mutex) = 0;
  std::uint64_t left_out LB_GUARDED_BY(mutex) = 0;
  core::Mutex writing;  // held while a line is written

  // Last, because its thread uses the members above.
  core::BoundedWorker<std::string> worker{{.waiting_max = kWaitingLinesMax},
                                          [this](std::vector<std::string>& lines) { pass_on(lines.front()); }};

  // Seconds are those of the answers.
  bool has_room_for(const RequestRecord& record) LB_REQUIRES(mutex) {
    if (lines_per_s_max == 0) return true;
    if (record.answered >= second_began + std::chrono::seconds(1)) {
      second_began = record.answered;
      lines_of_second = 0;
    }
    const unsigned kept_for_errors = record.status >= 500 ? 0 : lines_per_s_max / 4;
    if (lines_of_second >= lines_per_s_max - kept_for_errors) return false;
    ++lines_of_second;
    return true;
  }

  void pass_on(const std::string& line) noexcept {
    const core::MutexLock lock(writing);
    try {
      write(line);
    } catch (...) {
      // The line is lost.
    }
  }
};

RequestLog::RequestLog(LogFormat format, unsigned lines_per_s_max, std::function<void(std::string_view line)> write)
    : state_(std::make_unique<State>(format, lines_per_s_max, std::move(write))) {}

RequestLog::~RequestLog() = default;

void RequestLog::write(const RequestRecord& record) noexcept {
  try {
    std::uint64_t left_out = 0;
    {
      const core::MutexLock lock(state_->mutex);
      if (state_->worker.is_full() || !state_->has_room_for(record)) {
        ++state_->left_out;
        return;
      }
      left_out = std::exchange(state_->left_out, 0);
    }
    std::string line = line_of(record, state_->format, left_out);
    using Added = core::BoundedWorker<std::string>::Added;
    switch (state_->worker.add(line)) {
      case Added::kYes:
        break;
      case Added::kFull: {
        const core::MutexLock lock(state_->mutex);
        state_->left_out += left_out + 1;
        break;
      }
      case Added::kNoThread:  // the calling thread writes
        state_->pass_on(line);
        break;
    }
  } catch (...) {
    // Without memory the line is lost.
  }
}

std::string log_line(const RequestRecord& record, LogFormat format) {
  return line_of(record, format, 0);
}

}  // namespace latebind::server
