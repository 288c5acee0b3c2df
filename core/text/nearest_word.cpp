#include "core/text/nearest_word.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/text/ascii.h"

namespace latebind::core {
namespace {

// Known words are short; longer ones are not compared.
constexpr std::size_t kWordLengthMax = 64;
// Fewer letters may match by chance.
constexpr std::size_t kRunMin = 4;
constexpr std::size_t kWholeMin = 3;  // for a whole name

bool same_letter(char a, char b) {
  return ascii_lower(a) == ascii_lower(b);
}

// Levenshtein distance in which a swap of neighbours counts as one edit ("nup" is one edit from "npu").
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> before(width), previous(width), current(width);
  for (std::size_t j = 0; j < width; ++j)
    previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j < width; ++j) {
      const std::size_t replaced = previous[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0U : 1U);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1])) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[width - 1];
}

// Returns the length of the beginning that both have, up to the last separator in it. What all names of a family begin
// with does not tell them apart.
std::size_t common_words(std::string_view a, std::string_view b) {
  std::size_t words = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()) && same_letter(a[i], b[i]); ++i)
    if (std::string_view("._-:").find(a[i]) != std::string_view::npos) words = i + 1;
  return words;
}

// Returns the length of the longest run of letters that both have.
std::size_t longest_run(std::string_view a, std::string_view b) {
  std::size_t longest = 0;
  std::vector<std::size_t> previous(b.size() + 1), current(b.size() + 1);
  for (const char letter : a) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      current[j] = same_letter(letter, b[j - 1]) ? previous[j - 1] + 1 : 0;
      longest = std::max(longest, current[j]);
    }
    std::swap(previous, current);
  }
  return longest;
}

std::string_view after_last_dot(std::string_view word) {
  return word.substr(word.rfind('.') + 1);
}

// Removes the beginning and the end that all words share.
struct CommonEnds {
  std::string_view before;
  std::string_view after;

  explicit CommonEnds(std::span<const std::string_view> words) {
    if (words.size() < 2) return;
    before = after = words.front();
    for (const std::string_view word : words.subspan(1)) {
      const auto first = std::ranges::mismatch(before, word).in1;
      before = before.substr(0, static_cast<std::size_t>(first - before.begin()));
      std::size_t same = 0;
      while (same < std::min(after.size(), word.size()) &&
             after[after.size() - 1 - same] == word[word.size() - 1 - same])
        ++same;
      after.remove_prefix(after.size() - same);
    }
    if (std::ranges::any_of(words, [this](std::string_view word) { return cut(word).empty(); })) before = after = {};
  }
  [[nodiscard]] std::string_view cut(std::string_view word) const {
    if (word.starts_with(before)) word.remove_prefix(before.size());
    if (word.ends_with(after)) word.remove_suffix(after.size());
    return word;
  }
};

// Returns the known word of the same family, by its name.
std::string_view nearest_name(std::string_view given, std::span<const std::string_view> known) {
  std::vector<std::string_view> names;
  for (const std::string_view word : known)
    names.push_back(after_last_dot(word));
  const CommonEnds ends(names);
  for (std::string_view& name : names)
    name = ends.cut(name);
  const std::string_view asked = ends.cut(after_last_dot(given));
  if (asked.size() > kWordLengthMax) return {};
  const std::string_view near = nearest_word(asked, names);
  if (!near.empty()) return known[static_cast<std::size_t>(std::ranges::find(names, near) - names.begin())];
  std::string_view nearest;
  std::pair<bool, std::size_t> longest(false, kRunMin - 1);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t run = longest_run(asked, names[i]);
    const std::pair share(run == names[i].size() && run >= kWholeMin, run);
    if (share <= longest) continue;
    longest = share;
    nearest = known[i];
  }
  return nearest;
}

}  // namespace

std::string_view nearest_word(std::string_view given, std::span<const std::string_view> known) {
  if (given.empty() || given.size() > kWordLengthMax) return {};
  std::string_view nearest;
  std::size_t least = kWordLengthMax;
  for (const std::string_view word : known) {
    const std::size_t same = common_words(given, word);
    // Up to a third of the letters after that beginning may differ, but always one.
    const std::size_t most = std::max<std::size_t>(1, (given.size() - same) / 3);
    const std::size_t distance = edit_distance(given.substr(same), word.substr(same));
    if (distance <= most && distance < least) {
      least = distance;
      nearest = word;
    }
  }
  return nearest;
}

std::string supported_instead(std::string_view given, std::span<const std::string_view> known,
                              std::string_view listed) {
  std::string said;
  if (const std::string_view nearest = nearest_name(given, known); !nearest.empty())
    said = fmt::format("; the nearest supported name is {}", nearest);
  if (!listed.empty() || known.empty()) return said.append("; ").append(listed);
  const auto all_but_last = known.first(known.size() - 1);
  return said.append(fmt::format("; supported {} {}{}{}", known.size() == 1 ? "is" : "are",
                                 fmt::join(all_but_last, ", "), all_but_last.empty() ? "" : " and ", known.back()));
}

}  // namespace latebind::core
