// The texts with the best scores, and those whose vectors are nearest to a query, by cosine: the best k of any number.
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace latebind::cli {

struct Match {
  float score = 0;
  std::size_t file = 0;  // its number, where there are several
  std::uint64_t line = 0;
  std::string text{};
  // What it was found by, where `score` is another model's.
  std::optional<float> first_score{};
};

class BestMatches {
 public:
  // `count` at least 1.
  explicit BestMatches(std::size_t count) : count_(count) {}

  // Copies `text`, at most its first kTextMax bytes, only if it is among the best.
  void offer(float score, std::uint64_t line, const std::string& text, std::size_t file = 0);

  // Best first; the earlier file and line first among equals.
  [[nodiscard]] std::vector<Match> take() &&;

  static constexpr std::size_t kTextMax = std::size_t{64} * 1024;

 private:
  std::size_t count_;
  std::vector<Match> heap_;  // the worst of the best in front
};

class Nearest {
 public:
  // `count` at least 1. `query` is copied; a zero vector has score 0 with everything.
  Nearest(std::span<const float> query, std::size_t count);

  // `vector` has the query's length; the score is its cosine with the query's, -1 to 1. Otherwise as BestMatches.
  void offer(std::span<const float> vector, std::uint64_t line, const std::string& text, std::size_t file = 0);
  [[nodiscard]] std::vector<Match> take() && { return std::move(best_).take(); }

  static constexpr std::size_t kTextMax = BestMatches::kTextMax;

 private:
  std::vector<float> query_;
  double query_length_ = 0;
  BestMatches best_;
};

}  // namespace latebind::cli
