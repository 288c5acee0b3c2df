// Vocabulary: tokens and their ids in one block of bytes, found by an open-addressing hash table or by a trie. A
// token's id and size precede its text, so that a lookup touches no further memory.
//
// It is filled by add(), closed by one of the finish…() functions, and then immutable and readable from any thread. A
// string is hashed eight bytes at a time or, after finish_steps(), byte by byte, so that all prefixes of a word are
// hashed in one pass. Crafted vocabularies could cause long probe sequences; these are rejected, so that time stays
// linear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/platform/huge_pages.h"
#include "core/result.h"
#include "embedding/tokenizer/growing_bytes.h"
#include "embedding/tokenizer/short_bytes.h"
#include "embedding/tokenizer/token_trie.h"
#include "embedding/tokenizer/zeroed_slots.h"

namespace latebind::embedding {

class Vocabulary {
 public:
  static constexpr std::size_t kTokensMax = std::size_t{1} << 22;
  static constexpr std::size_t kTokenBytesMax = std::size_t{64} << 10;
  // The number of bytes that a byte-by-byte search examines; longer tokens must differ within these, or occur in no
  // word.
  static constexpr std::size_t kSearchedBytesMax = 512;
  // Ids are below this.
  static constexpr std::uint64_t kIdEnd = std::uint64_t{1} << 24;

  // Reserves memory for the tokens that a JSON text of this size usually has.
  void reserve(std::size_t json_bytes);
  // Rejects tokens and ids beyond the limits above.
  [[nodiscard]] core::Status add(std::string_view token, std::uint64_t id);
  // Rejects duplicate tokens and ids.
  [[nodiscard]] core::Status finish();
  // The same, for a model that searches prefixes of words by their hash states. May follow finish().
  [[nodiscard]] core::Status finish_steps();
  // The same, for a model that searches all tokens that are prefixes of a text, except the empty one.
  [[nodiscard]] core::Status finish_trie();

  // The following functions require that one of these has been called.
  [[nodiscard]] std::size_t size() const { return places_.size(); }
  // One more than the greatest id. Some ids below it may have no token.
  [[nodiscard]] std::size_t id_end() const { return id_end_; }
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view token) const;
  // Without a trie: the ids of many tokens, -1 for missing ones, several times as fast as single lookups. `ids` has as
  // many elements as `tokens`.
  void find_all(std::span<const std::string_view> tokens, std::span<std::int32_t> ids) const;
  // A view into the vocabulary; std::nullopt if no token has this id.
  [[nodiscard]] std::optional<std::string_view> token(std::int32_t id) const;
  // The token at this index in the order of ids, and its id; `place` is below size().
  [[nodiscard]] std::pair<std::int32_t, std::string_view> at(std::size_t place) const {
    const Entry found = entry(places_[place]);
    return {found.id, found.text};
  }

  // Calls on_token(id, size in bytes) for each token that is a prefix of `text`, the shortest first. Requires
  // finish_trie().
  template <class OnToken>
  void for_each_prefix(std::string_view text, OnToken on_token) const {
    trie_->for_each_prefix(
        text, [this](std::int32_t id) { return *token(id); }, on_token);
  }

  // Hash states for WordPiece: of the empty string, and of a state's string with one more byte. Requires
  // finish_steps().
  [[nodiscard]] std::uint64_t hash_start() const { return seed_; }
  static std::uint64_t hash_step(std::uint64_t state, char byte) {
    return (state ^ static_cast<unsigned char>(byte)) * kMultiplier;
  }
  // The id of the token `prefix` + `rest`, whose hash state is `state`; negative if there is none.
  [[nodiscard]] std::int32_t find(std::uint64_t state, std::string_view prefix, std::string_view rest) const;

  // Lengths in bytes of the longest token, and of the longest one with this prefix, not counting the prefix.
  [[nodiscard]] std::size_t longest() const;
  [[nodiscard]] std::size_t longest_after(std::string_view prefix) const;

 private:
  struct Entry {
    std::int32_t id;
    std::string_view text;
  };
  // The position of a token's text in bytes_; its id and its size, 4 bytes each, precede it.
  using Place = std::uint32_t;
  using Size = std::uint32_t;
  static constexpr std::size_t kHeadBytes = sizeof(std::int32_t) + sizeof(Size);
  struct Slot {
    std::uint32_t tag;
    Place place;  // 0: free
  };

  [[nodiscard]] std::int32_t id_at(Place place) const {
    return word_at<std::int32_t>(bytes_.data() + place - kHeadBytes);
  }
  [[nodiscard]] Entry entry(Place place) const {
    const char* const text = bytes_.data() + place;
    return {id_at(place), {text, word_at<Size>(text - sizeof(Size))}};
  }
  static std::uint32_t tag_of(std::uint64_t state) { return static_cast<std::uint32_t>(state ^ state >> 32); }
  [[nodiscard]] std::size_t slot_of(std::uint64_t state) const { return static_cast<std::size_t>(state >> shift_); }
  static constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15U;
  [[nodiscard]] std::uint64_t state_of(std::string_view token) const {
    return has_steps_ ? state_by_steps(token) : state_by_words(token);
  }
  [[nodiscard]] std::uint64_t state_by_steps(std::string_view token) const {
    std::uint64_t state = seed_;
    for (const char byte : token)
      state = hash_step(state, byte);
    return state;
  }
  [[nodiscard]] std::uint64_t state_by_words(std::string_view token) const {
    std::uint64_t state = seed_ + token.size();
    for (std::size_t i = 0; i + 8 < token.size(); i += 8) {
      state = (state ^ word_at<std::uint64_t>(token.data() + i)) * kMultiplier;
      state ^= state >> 29U;
    }
    return (state ^ last_word(token)) * kMultiplier;
  }
  [[nodiscard]] core::Status fill();
  [[nodiscard]] core::Status sort_by_id();
  [[nodiscard]] bool fill_table(std::string_view& twice);

  GrowingBytes bytes_;
  platform::LargeVector<Place> places_;  // sorted by id after finish()
  ZeroedSlots<Slot> slots_;
  std::optional<TokenTrie> trie_;
  std::uint64_t seed_ = 0;
  unsigned shift_ = 63;
  bool has_steps_ = false;
  std::size_t id_end_ = 0;
};

// In the header to be inlined, since it is called several times for each token.
inline std::int32_t Vocabulary::find(std::uint64_t state, std::string_view prefix, std::string_view rest) const {
  const std::uint32_t tag = tag_of(state);
  for (std::size_t slot = slot_of(state); slots_[slot].place != 0; slot = (slot + 1) & (slots_.size() - 1)) {
    if (slots_[slot].tag != tag) continue;
    const auto& [id, text] = entry(slots_[slot].place);
    if (text.size() == prefix.size() + rest.size() &&
        same_bytes(text.data() + prefix.size(), rest.data(), rest.size()) &&
        same_bytes(text.data(), prefix.data(), prefix.size())) {
      return id;
    }
  }
  return -1;
}

}  // namespace latebind::embedding
