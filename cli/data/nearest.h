// The vectors nearest to a query, by cosine: keeps the best k of any number. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace latebind::cli {

struct Match {
  float score = 0;  // cosine, -1 to 1
  std::uint64_t line = 0;
  std::string text;
};

class Nearest {
 public:
  // `count` at least 1. `query` is copied; a zero vector has score 0 with everything.
  Nearest(std::span<const float> query, std::size_t count);

  // `vector` has the query's length. Copies `text`, at most its first kTextMax bytes, only if it is among the best.
  void offer(std::span<const float> vector, std::uint64_t line, const std::string& text);

  // Best first; the earlier line first among equals.
  [[nodiscard]] std::vector<Match> take() &&;

  static constexpr std::size_t kTextMax = std::size_t{64} * 1024;

 private:
  std::vector<float> query_;
  double query_length_ = 0;
  std::size_t count_;
  std::vector<Match> heap_;  // the worst of the best in front
};

}  // namespace latebind::cli
