#include "core/text/nearest_word.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace latebind::core {
namespace {

// Words are short: longer ones are not compared.
constexpr std::size_t kWordLengthMax = 64;

// Levenshtein distance with a swap of neighbours counted as one edit ("nup" is one edit from
// "npu").
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> before(width), previous(width), current(width);
  for (std::size_t j = 0; j < width; ++j)
    previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j < width; ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[width - 1];
}

}  // namespace

std::string_view nearest_word(std::string_view given, std::span<const std::string_view> known) {
  if (given.empty() || given.size() > kWordLengthMax) return {};
  std::string_view nearest;
  // A third of the letters may be wrong, one always.
  std::size_t least = std::max<std::size_t>(1, given.size() / 3) + 1;
  for (const std::string_view word : known) {
    const std::size_t distance = edit_distance(given, word);
    if (distance < least) {
      least = distance;
      nearest = word;
    }
  }
  return nearest;
}

}  // namespace latebind::core
