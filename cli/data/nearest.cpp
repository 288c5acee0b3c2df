#include "cli/data/nearest.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "core/text/utf8.h"

namespace latebind::cli {
namespace {

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

bool better(const Match& a, const Match& b) {
  return std::tuple(-a.score, a.file, a.line) < std::tuple(-b.score, b.file, b.line);
}

}  // namespace

Nearest::Nearest(std::span<const float> query, std::size_t count)
    : query_(query.begin(), query.end()), query_length_(std::sqrt(dot(query, query))), best_(count) {}

void Nearest::offer(std::span<const float> vector, std::uint64_t line, const std::string& text, std::size_t file,
                    std::string_view id) {
  const double lengths = query_length_ * std::sqrt(dot(vector, vector));
  const double cosine = lengths > 0 ? dot(query_, vector) / lengths : 0;
  best_.offer(std::isfinite(cosine) ? static_cast<float>(cosine) : -1.0F, line, text, file, id);
}

void BestMatches::offer(float score, std::uint64_t line, const std::string& text, std::size_t file,
                        std::string_view id) {
  Match match{.score = score, .file = file, .line = line};
  if (heap_.size() == count_) {
    if (!better(match, heap_.front())) return;
    std::ranges::pop_heap(heap_, better);
    heap_.pop_back();
  }
  match.text = std::string(core::cut_utf8(text, kTextMax));
  match.id = id;
  heap_.push_back(std::move(match));
  std::ranges::push_heap(heap_, better);
}

std::vector<Match> BestMatches::take() && {
  std::ranges::sort(heap_, better);
  return std::move(heap_);
}

}  // namespace latebind::cli
