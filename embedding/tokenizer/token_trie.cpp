#include "embedding/tokenizer/token_trie.h"

#include <algorithm>

#include "embedding/tokenizer/vocabulary.h"

namespace latebind::embedding {

// Sorts the tokens by their bytes, and takes them apart by their first byte, then each group by its second, and so on.
class TokenTrie::Builder {
 public:
  Builder(const Vocabulary& vocabulary, TokenTrie& trie) : vocabulary_(vocabulary), trie_(trie) {}

  // False when a token is there twice; then this is it.
  bool build(std::string_view& twice) {
    sort_tokens();
    const auto is_same = [this](const Entry& a, const Entry& b) {
      return a.head == b.head && text_of(a) == text_of(b);
    };
    const auto twin = std::adjacent_find(tokens_.begin(), tokens_.end(), is_same);
    if (twin != tokens_.end()) {
      twice = text_of(*twin);
      return false;
    }
    trie_.nodes_.reserve(tokens_.size() + tokens_.size() / 2 + 1);
    trie_.nodes_.emplace_back();
    add_group({0, 0, tokens_.size(), 0});
    while (!open_.empty()) {
      const Group group = open_.back();
      open_.pop_back();
      add_children(group);
    }
    return true;
  }

 private:
  // A token by its first bytes, which tell most of them apart without a look at the rest.
  struct Entry {
    std::uint64_t head;  // the first byte on top; zeros behind a short token
    std::uint32_t place;
    std::uint32_t size;
  };
  static constexpr std::size_t kHeadBytes = 8;

  // Tokens that are the same up to `depth` bytes, and the node that stands for these.
  struct Group {
    std::size_t node;
    std::size_t begin;
    std::size_t end;
    std::size_t depth;
  };

  [[nodiscard]] std::string_view text_of(const Entry& entry) const { return vocabulary_.at(entry.place).second; }
  [[nodiscard]] std::uint8_t byte_at(const Entry& entry, std::size_t depth) const {
    if (depth < kHeadBytes) return static_cast<std::uint8_t>(entry.head >> (8 * (kHeadBytes - 1 - depth)));
    return static_cast<std::uint8_t>(text_of(entry)[depth]);
  }

  void sort_tokens() {
    tokens_.reserve(vocabulary_.size());
    for (std::size_t place = 0; place < vocabulary_.size(); ++place) {
      const std::string_view text = vocabulary_.at(place).second;
      if (text.empty()) continue;
      std::uint64_t head = 0;
      for (std::size_t i = 0; i < kHeadBytes; ++i)
        head = head << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
      tokens_.push_back({head, static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(text.size())});
    }
    // By each byte of the heads, the last one first.
    std::vector<Entry> sorted(tokens_.size());
    for (unsigned shift = 0; shift < 8 * kHeadBytes; shift += 8) {
      std::array<std::uint32_t, 257> next{};
      for (const Entry& entry : tokens_)
        ++next[(entry.head >> shift & 0xFFU) + 1];
      for (std::size_t byte = 0; byte < 256; ++byte)
        next[byte + 1] += next[byte];
      for (const Entry& entry : tokens_)
        sorted[next[entry.head >> shift & 0xFFU]++] = entry;
      tokens_.swap(sorted);
    }
    for (auto begin = tokens_.begin(); begin != tokens_.end();) {
      const auto end =
          std::find_if(begin, tokens_.end(), [&](const Entry& entry) { return entry.head != begin->head; });
      std::sort(begin, end, [this](const Entry& a, const Entry& b) { return text_of(a) < text_of(b); });
      begin = end;
    }
  }

  void add_group(Group group) {
    if (group.begin == group.end) return;
    Node& node = trie_.nodes_[group.node];
    const Entry& first = tokens_[group.begin];
    const bool is_only = group.end - group.begin == 1;
    if (is_only || first.size == group.depth) {
      node.token = vocabulary_.at(first.place).first;
      node.is_tail = first.size > group.depth;
      ++group.begin;
    }
    if (!is_only) open_.push_back(group);
  }

  void add_children(const Group& group) {
    const std::size_t first = trie_.nodes_.size();
    for (std::size_t begin = group.begin; begin < group.end;) {
      const std::uint8_t byte = byte_at(tokens_[begin], group.depth);
      std::size_t end = begin + 1;
      while (end < group.end && byte_at(tokens_[end], group.depth) == byte)
        ++end;
      trie_.nodes_.emplace_back().label = byte;
      add_group({trie_.nodes_.size() - 1, begin, end, group.depth + 1});
      begin = end;
    }
    const std::size_t count = trie_.nodes_.size() - first;
    Node& parent = trie_.nodes_[group.node];
    if (count <= kFewChildren) {
      parent.children = static_cast<std::uint32_t>(first);
      parent.child_count = static_cast<std::uint8_t>(count);
      return;
    }
    parent.children = kDense | static_cast<std::uint32_t>(trie_.tables_.size());
    Table& table = trie_.tables_.emplace_back();
    table.first = static_cast<std::uint32_t>(first);
    for (std::size_t i = 0; i < count; ++i)
      table.child[trie_.nodes_[first + i].label] = static_cast<std::uint8_t>(i + 1);
  }

  const Vocabulary& vocabulary_;
  TokenTrie& trie_;
  std::vector<Entry> tokens_;  // in the order of their bytes
  std::vector<Group> open_;
};

bool TokenTrie::build(const Vocabulary& vocabulary, std::string_view& twice) {
  return Builder(vocabulary, *this).build(twice);
}

}  // namespace latebind::embedding
