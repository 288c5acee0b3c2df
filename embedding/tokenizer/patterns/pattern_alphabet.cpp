#include "embedding/tokenizer/patterns/pattern_alphabet.h"

#include <algorithm>
#include <map>
#include <memory>

namespace latebind::embedding {
namespace {

constexpr std::size_t kLettersMax = 256;

// The beginning or end of a range of a set.
struct SetEdge {
  char32_t at;
  std::size_t set;
};

std::vector<SetEdge> edges_of(const std::vector<CodePointSet>& sets) {
  std::vector<SetEdge> edges;
  for (std::size_t set = 0; set < sets.size(); ++set) {
    for (const CodePointSet::Range& range : sets[set].ranges()) {
      edges.push_back({range.first, set});
      edges.push_back({range.last + 1, set});
    }
  }
  std::sort(edges.begin(), edges.end(), [](const SetEdge& a, const SetEdge& b) { return a.at < b.at; });
  return edges;
}

}  // namespace

core::Result<std::unique_ptr<const PatternAlphabet>> PatternAlphabet::create(const std::vector<CodePointSet>& sets) {
  std::unique_ptr<PatternAlphabet> alphabet(new PatternAlphabet);
  alphabet->letters_.resize(sets.size());
  // For each set, whether it contains the characters from here on.
  std::string inside(sets.size(), '0');
  std::map<std::string, std::uint8_t> known;
  const std::vector<SetEdge> edges = edges_of(sets);
  std::size_t next = 0;
  for (char32_t at = 0; at < unicode::kCodePointEnd;) {
    for (; next < edges.size() && edges[next].at == at; ++next)
      inside[edges[next].set] = inside[edges[next].set] == '0' ? '1' : '0';
    const auto [letter, is_new] = known.try_emplace(inside, static_cast<std::uint8_t>(known.size()));
    if (known.size() > kLettersMax) {
      return core::Status(core::StatusCode::kUnsupported, "that it distinguishes more than 256 kinds of characters");
    }
    for (std::size_t set = 0; is_new && set < sets.size(); ++set) {
      if (inside[set] == '1') alphabet->letters_[set].push_back(static_cast<char>(letter->second));
    }
    alphabet->runs_.push_back({at, letter->second});
    at = next < edges.size() ? edges[next].at : unicode::kCodePointEnd;
  }
  Page first_page{};
  alphabet->fill_page(0, first_page);
  std::copy_n(first_page.begin(), alphabet->ascii_.size(), alphabet->ascii_.begin());
  return std::unique_ptr<const PatternAlphabet>(std::move(alphabet));
}

void PatternAlphabet::fill_page(char32_t first, Page& page) const {
  auto run = std::upper_bound(runs_.begin(), runs_.end(), first, [](char32_t c, const Run& r) { return c < r.first; });
  char32_t c = first;
  for (std::uint8_t& letter : page) {
    while (run != runs_.end() && run->first <= c)
      ++run;
    letter = std::prev(run)->letter;
    ++c;
  }
}

}  // namespace latebind::embedding
