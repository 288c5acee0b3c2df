#include "embedding/folder/gguf/scored_merges.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <unordered_map>

#include "core/text/utf8.h"

namespace latebind::embedding {
namespace {

constexpr std::size_t kMergedBytesMax = 1024;

std::size_t characters_of_piece(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return !core::is_utf8_continuation(byte); }));
}

struct ScoredMerge {
  float score = 0;
  std::size_t first_size = 0;  // in characters
  std::size_t second_size = 0;
  std::string_view first{};
  std::string_view second{};
};

}  // namespace

std::vector<std::pair<std::string_view, std::string_view>> scored_merges(std::span<const std::string_view> pieces,
                                                                         std::span<const float> scores) {
  std::unordered_map<std::string_view, std::size_t> ids;
  for (std::size_t id = 0; id < pieces.size(); ++id)
    ids.try_emplace(pieces[id], id);
  std::vector<ScoredMerge> merges;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const std::string_view piece = pieces[id];
    if (piece.size() > kMergedBytesMax) continue;
    std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> of_piece;  // the parts' ids, and where they meet
    for (std::size_t at = 1; at < piece.size(); ++at) {
      if (core::is_utf8_continuation(piece[at])) continue;
      const auto first = ids.find(piece.substr(0, at));
      const auto second = ids.find(piece.substr(at));
      if (first != ids.end() && second != ids.end()) of_piece.emplace_back(first->second, second->second, at);
    }
    std::ranges::sort(of_piece);
    for (const auto& [first, second, at] : of_piece) {
      merges.push_back({.score = scores[id],
                        .first_size = characters_of_piece(piece.substr(0, at)),
                        .second_size = characters_of_piece(piece.substr(at)),
                        .first = piece.substr(0, at),
                        .second = piece.substr(at)});
    }
  }
  std::ranges::stable_sort(merges, [](const ScoredMerge& a, const ScoredMerge& b) {
    return std::tie(a.score, a.first_size, a.second_size) > std::tie(b.score, b.first_size, b.second_size);
  });
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  pairs.reserve(merges.size());
  for (const ScoredMerge& merge : merges)
    pairs.emplace_back(merge.first, merge.second);
  return pairs;
}

}  // namespace latebind::embedding
