// TokenTrie: finds all tokens that are prefixes of a text, in one pass over its bytes.
//
// A node's children are adjacent in memory. If only one token is left, its remaining bytes are compared with the
// vocabulary instead of having nodes, so there are hardly more nodes than tokens. Owned by the vocabulary. It is built
// once, by two threads if it is large; then any thread may look up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/platform/huge_pages.h"
#include "core/status.h"

namespace latebind::embedding {

class Vocabulary;

class TokenTrie {
 public:
  // Takes the tokens, except the empty one, of a vocabulary that is sorted by id. Returns kInvalidModel if a token
  // occurs twice, and kUnsupported if too many tokens share too many bytes.
  [[nodiscard]] core::Status build(const Vocabulary& vocabulary);

  // Calls on_token(id, size in bytes) for each token that is a prefix of `text`, the shortest first. text_of(id)
  // returns the text of a token.
  template <class TextOf, class OnToken>
  void for_each_prefix(std::string_view text, TextOf text_of, OnToken on_token) const;

 private:
  static constexpr std::int32_t kNoToken = -1;
  static constexpr std::uint32_t kDense = 1U << 31;
  // Up to this many children are searched one by one; more have a table.
  static constexpr std::size_t kFewChildren = 8;

  struct Node {
    // The index of the first child, or kDense and the index of a table of children.
    std::uint32_t children = 0;
    std::int32_t token = kNoToken;  // the token that ends here; for a tail: the token that continues from here
    std::uint8_t label = 0;
    std::uint8_t child_count = 0;  // 0 if there is a table
    bool is_tail = false;
  };
  // The child for each byte: its distance from the first child plus 1, or 0. UTF-8 uses fewer than 255 different bytes.
  struct Table {
    std::uint32_t first = 0;
    std::array<std::uint8_t, 256> child{};
  };
  class Builder;

  // Takes the nodes of a trie whose tokens begin with other bytes.
  void append(const TokenTrie& other);

  [[nodiscard]] const Node* child(const Node& node, char byte) const {
    const auto label = static_cast<unsigned char>(byte);
    if ((node.children & kDense) != 0) {
      const Table& table = tables_[node.children & ~kDense];
      return table.child[label] == 0 ? nullptr : &nodes_[table.first + table.child[label] - 1U];
    }
    for (std::size_t i = 0; i < node.child_count; ++i) {
      if (nodes_[node.children + i].label == label) return &nodes_[node.children + i];
    }
    return nullptr;
  }

  static constexpr std::uint32_t kNoNode = 0xFFFFFFFFU;

  platform::LargeVector<Node> nodes_;
  // The node of each first byte.
  std::array<std::uint32_t, 256> roots_ = [] {
    std::array<std::uint32_t, 256> none{};
    none.fill(kNoNode);
    return none;
  }();
  std::vector<Table> tables_;
};

template <class TextOf, class OnToken>
void TokenTrie::for_each_prefix(std::string_view text, TextOf text_of, OnToken on_token) const {
  if (text.empty()) return;
  const std::uint32_t root = roots_[static_cast<unsigned char>(text.front())];
  if (root == kNoNode) return;
  const Node* node = &nodes_[root];
  for (std::size_t size = 1;; ++size) {
    if (node->is_tail) {
      const std::string_view token = text_of(node->token);
      if (text.substr(size).starts_with(token.substr(size))) on_token(node->token, token.size());
      return;
    }
    if (node->token != kNoToken) on_token(node->token, size);
    if (size == text.size()) return;
    node = child(*node, text[size]);
    if (node == nullptr) return;
  }
}

}  // namespace latebind::embedding
