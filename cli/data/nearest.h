// Keep the k best of any number of texts: by score, or by the cosine between their vectors and a query's. For one
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latebind::cli {

struct Match {
  float score = 0;
  std::size_t file = 0;  // its number, if there are several files
  std::uint64_t line = 0;
  std::string text{};
  std::string id{};  // as JSON; empty: none
  // The score of the first search, if `score` comes from a reranker.
  std::optional<float> first_score{};
};

class BestMatches {
 public:
  // `count` must be at least 1.
  explicit BestMatches(std::size_t count) : count_(count) {}

  // Adds a text if it is among the best. Only then copies it, at most kTextMax bytes.
  void offer(float score, std::uint64_t line, const std::string& text, std::size_t file = 0, std::string_view id = {});

  // Best first; equal scores in the order of files and lines.
  [[nodiscard]] std::vector<Match> take() &&;

  static constexpr std::size_t kTextMax = std::size_t{64} * 1024;

 private:
  std::size_t count_;
  std::vector<Match> heap_;  // a heap with the worst kept match in front
};

class Nearest {
 public:
  // `count` must be at least 1. `query` is copied. A zero vector has score 0 with every vector.
  Nearest(std::span<const float> query, std::size_t count);

  // Offers a vector of the query's length, with the cosine as its score, from -1 to 1. See BestMatches::offer().
  void offer(std::span<const float> vector, std::uint64_t line, const std::string& text, std::size_t file = 0,
             std::string_view id = {});
  [[nodiscard]] std::vector<Match> take() && { return std::move(best_).take(); }

  static constexpr std::size_t kTextMax = BestMatches::kTextMax;

 private:
  std::vector<float> query_;
  double query_length_ = 0;
  BestMatches best_;
};

}  // namespace latebind::cli
