// Progress shows one line on a terminal with the progress, the speed and the remaining time.
//
// It writes to the error stream, at most ten times a second and only if that is a terminal. The line is wiped on
// destruction and by any other message (messages.h). One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace latebind::cli {

// Returns the line, at most `columns` characters. Without a total there is no bar and no remaining time.
[[nodiscard]] std::string progress_line(std::uint64_t texts, std::uint64_t bytes,
                                        std::optional<std::uint64_t> total_bytes, double seconds, unsigned columns);

// The line for downloads: "[==== ] 33 % 30.1 of 90.9 MB 11.2 MB/s 0:00:05 left".
[[nodiscard]] std::string loading_line(std::uint64_t bytes, std::uint64_t total_bytes, double seconds,
                                       unsigned columns);

class Progress {
 public:
  enum class Kind { kTexts, kLoading };

  // `total_bytes` is the size of the whole input, if known. `quiet` disables drawing.
  Progress(std::optional<std::uint64_t> total_bytes, bool quiet, Kind kind = Kind::kTexts);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // Records that `texts` more texts are done, which used `bytes` of the input.
  void advance(std::uint64_t texts, std::uint64_t bytes);
  [[nodiscard]] bool is_shown() const { return shown_; }

 private:
  void draw(std::chrono::steady_clock::time_point now);

  const std::optional<std::uint64_t> total_bytes_;
  const bool shown_;
  const Kind kind_;
  const std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point next_draw_;
  std::uint64_t texts_ = 0;
  std::uint64_t bytes_ = 0;
  bool drawn_ = false;
};

}  // namespace latebind::cli
