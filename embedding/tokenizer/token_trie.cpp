#include "embedding/tokenizer/token_trie.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "core/text/quote.h"
#include "core/threads/in_background.h"
#include "embedding/tokenizer/short_bytes.h"
#include "embedding/tokenizer/vocabulary.h"

namespace latebind::embedding {

using core::Status;
using core::StatusCode;

namespace {

// Four for each possible token; usual vocabularies have fewer than two.
constexpr std::size_t kNodesMax = Vocabulary::kTokensMax * 4;

Status too_many_nodes() {
  return {StatusCode::kUnsupported, "too many tokens share long prefixes"};
}

// Each byte that tokens share is a step of the search, at every place of a text.
Status same_for_too_long() {
  return {StatusCode::kUnsupported,
          fmt::format("the first {} bytes of two tokens are the same", Vocabulary::kSearchedBytesMax)};
}

// The first byte that divides the tokens into two halves of nearly equal size.
unsigned middle_of(const std::array<std::size_t, 256>& counts, std::size_t tokens) {
  std::size_t below = 0;
  unsigned byte = 0;
  for (; byte < counts.size(); ++byte) {
    // Chooses the side that makes the halves more equal.
    if (below + counts[byte] / 2 >= tokens / 2) break;
    below += counts[byte];
  }
  return byte;
}

}  // namespace

// Divides the tokens by their first byte, then each group by its second byte, and so on. A group is sorted by eight
// bytes at a time.
class TokenTrie::Builder {
 public:
  Builder(const Vocabulary& vocabulary, TokenTrie& trie) : vocabulary_(vocabulary), trie_(trie) {}

  // Builds the trie of the `count` tokens whose first byte is from `first` to before `end`.
  Status build(unsigned first, unsigned end, std::size_t count) {
    tokens_.reserve(count);
    for (std::size_t place = 0; place < vocabulary_.size(); ++place) {
      const auto [id, text] = vocabulary_.at(place);
      if (text.empty()) continue;
      const auto byte = static_cast<unsigned char>(text.front());
      if (byte >= first && byte < end) tokens_.push_back({0, id, static_cast<std::uint32_t>(text.size())});
    }
    sorted_.resize(tokens_.size());
    add_roots();
    while (!open_.empty() && status_.ok()) {
      const Group group = open_.back();
      open_.pop_back();
      if (group.depth % kHeadBytes == 0) sort(group);
      add_children(group);
    }
    return status_;
  }

 private:
  // A token, and eight of its bytes from the last multiple of eight.
  struct Entry {
    std::uint64_t head;  // the first byte is the highest; zeros after the token's end
    std::int32_t id;
    std::uint32_t size;
  };
  static constexpr std::size_t kHeadBytes = 8;

  // Tokens whose first `depth` bytes are equal, and the node of these bytes.
  struct Group {
    std::size_t node;
    std::size_t begin;
    std::size_t end;
    std::size_t depth;
  };

  [[nodiscard]] std::string_view text_of(const Entry& entry) const { return *vocabulary_.token(entry.id); }
  static std::uint8_t byte_at(const Entry& entry, std::size_t depth) {
    return static_cast<std::uint8_t>(entry.head >> (8 * (kHeadBytes - 1 - depth % kHeadBytes)));
  }

  static std::uint64_t head_of(std::string_view text) {
    if (text.size() >= kHeadBytes) return __builtin_bswap64(word_at<std::uint64_t>(text.data()));
    std::uint64_t head = 0;
    for (std::size_t i = 0; i < text.size(); ++i)
      head |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * (kHeadBytes - 1 - i));
    return head;
  }

  // Sorts by the next eight bytes; of tokens that are equal there, those that end come first.
  void sort(const Group& group) {
    constexpr std::size_t kFew = 1024;
    const std::span<Entry> tokens(tokens_.data() + group.begin, group.end - group.begin);
    for (Entry& entry : tokens)
      entry.head = head_of(text_of(entry).substr(group.depth));
    if (tokens.size() <= kFew) {
      std::sort(tokens.begin(), tokens.end(),
                [](const Entry& a, const Entry& b) { return a.head != b.head ? a.head < b.head : a.size < b.size; });
      return;
    }
    // A radix sort by each of these bytes, the last one first, which keeps the order of equal ones.
    std::span<Entry> from = tokens;
    std::span<Entry> to(sorted_.data(), tokens.size());
    const auto sort_by = [&](auto key_of) {
      std::array<std::uint32_t, 257> next{};
      for (const Entry& entry : from)
        ++next[key_of(entry) + 1];
      if (next[key_of(from.front()) + 1] == from.size()) return;
      for (std::size_t key = 0; key < 256; ++key)
        next[key + 1] += next[key];
      for (const Entry& entry : from)
        to[next[key_of(entry)]++] = entry;
      std::swap(from, to);
    };
    sort_by([&](const Entry& entry) { return std::min<std::size_t>(entry.size - group.depth, kHeadBytes + 1); });
    for (unsigned shift = 0; shift < 8 * kHeadBytes; shift += 8)
      sort_by([shift](const Entry& entry) { return static_cast<std::size_t>(entry.head >> shift & 0xFFU); });
    if (from.data() != tokens.data()) std::copy(from.begin(), from.end(), tokens.begin());
  }

  void add_roots() {
    if (!tokens_.empty()) sort({0, 0, tokens_.size(), 0});
    for (std::size_t begin = 0; begin < tokens_.size();) {
      const std::size_t end = end_of_child(begin, tokens_.size(), 0);
      trie_.roots_[byte_at(tokens_[begin], 0)] = static_cast<std::uint32_t>(trie_.nodes_.size());
      trie_.nodes_.emplace_back();
      add_group({trie_.nodes_.size() - 1, begin, end, 1});
      begin = end;
    }
  }

  // The end of the tokens from `begin` on that have the same byte at `depth`.
  [[nodiscard]] std::size_t end_of_child(std::size_t begin, std::size_t end, std::size_t depth) const {
    const std::uint8_t byte = byte_at(tokens_[begin], depth);
    ++begin;
    while (begin < end && byte_at(tokens_[begin], depth) == byte)
      ++begin;
    return begin;
  }

  void add_group(Group group) {
    if (group.begin == group.end) return;
    Node& node = trie_.nodes_[group.node];
    const Entry& first = tokens_[group.begin];
    const bool is_only = group.end - group.begin == 1;
    if (is_only || first.size == group.depth) {
      node.token = first.id;
      node.is_tail = first.size > group.depth;
      ++group.begin;
    }
    if (is_only) return;
    if (tokens_[group.begin].size == group.depth) {
      status_ = {StatusCode::kInvalidModel, fmt::format("the token {} occurs twice", core::quoted(text_of(first)))};
    }
    if (group.depth >= Vocabulary::kSearchedBytesMax && status_.ok()) status_ = same_for_too_long();
    open_.push_back(group);
  }

  void add_children(const Group& group) {
    const std::size_t first = trie_.nodes_.size();
    for (std::size_t begin = group.begin; begin < group.end;) {
      const std::size_t end = end_of_child(begin, group.end, group.depth);
      trie_.nodes_.emplace_back().label = byte_at(tokens_[begin], group.depth);
      add_group({trie_.nodes_.size() - 1, begin, end, group.depth + 1});
      begin = end;
    }
    if (trie_.nodes_.size() > kNodesMax) status_ = too_many_nodes();
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
  platform::LargeVector<Entry> tokens_;
  platform::LargeVector<Entry> sorted_;
  std::vector<Group> open_;
  Status status_;
};

Status TokenTrie::build(const Vocabulary& vocabulary) {
  constexpr std::size_t kWorthAThread = 20'000;
  constexpr unsigned kBytesEnd = 256;
  std::array<std::size_t, kBytesEnd> counts{};
  for (std::size_t place = 0; place < vocabulary.size(); ++place) {
    const std::string_view text = vocabulary.at(place).second;
    if (!text.empty()) ++counts[static_cast<unsigned char>(text.front())];
  }
  const std::size_t tokens = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  nodes_.reserve(tokens + tokens / 2);
  if (tokens < kWorthAThread) return Builder(vocabulary, *this).build(0, kBytesEnd, tokens);
  const unsigned middle = middle_of(counts, tokens);
  const std::size_t below = std::accumulate(counts.begin(), counts.begin() + middle, std::size_t{0});
  TokenTrie upper;
  auto building = core::in_background([&vocabulary, &upper, middle, count = tokens - below] {
    upper.nodes_.reserve(count + count / 2);
    return Builder(vocabulary, upper).build(middle, kBytesEnd, count);
  });
  LB_RETURN_IF_ERROR(Builder(vocabulary, *this).build(0, middle, below));
  LB_RETURN_IF_ERROR(building.get());
  if (nodes_.size() + upper.nodes_.size() > kNodesMax) return too_many_nodes();
  append(upper);
  return {};
}

void TokenTrie::append(const TokenTrie& other) {
  const auto nodes = static_cast<std::uint32_t>(nodes_.size());
  const auto tables = static_cast<std::uint32_t>(tables_.size());
  for (Node node : other.nodes_) {
    node.children += (node.children & kDense) != 0 ? tables : nodes;
    nodes_.push_back(node);
  }
  for (Table table : other.tables_) {
    table.first += nodes;
    tables_.push_back(table);
  }
  for (std::size_t byte = 0; byte < roots_.size(); ++byte) {
    if (other.roots_[byte] != kNoNode) roots_[byte] = other.roots_[byte] + nodes;
  }
}

}  // namespace latebind::embedding
