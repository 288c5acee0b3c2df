// BPE: starts with a word's characters and merges neighbours, always the pair of the lowest rank, and of equal pairs
// the leftmost.
//
// The symbols of a word are a doubly linked list inside an array, so that a merge takes constant time and places do not
// change. A heap orders the pairs by rank and place. Entries of the heap are not updated: when one is taken, its pair
// is looked up again, and the entry is skipped unless the pair still gives the same token. Each merge adds at most two
// entries, so a word of n characters takes O(n log n).
//
// Source: Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units".
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <new>

#include "core/platform/huge_pages.h"
#include "core/text/utf8.h"
#include "embedding/tokenizer/models/bpe_merges.h"
#include "embedding/tokenizer/models/model_vocabulary.h"
#include "embedding/tokenizer/models/word_scratch.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

struct BpeOptions {
  std::string prefix;  // precedes all characters of a word but the first
  std::string suffix;  // follows the last character
  std::optional<std::int32_t> unknown;
  bool fuse_unk = false;
  bool byte_fallback = false;
  bool ignore_merges = false;
};

// A token of the word, linked with its neighbours. Its index in the list does not change.
struct Symbol {
  std::int32_t id;
  std::uint32_t size;  // bytes of the word; 0: merged into the previous token
  std::uint32_t previous;
  std::uint32_t next;
};

constexpr std::uint32_t kNoSymbol = std::numeric_limits<std::uint32_t>::max();

constexpr std::size_t kUsualWord = 64;
using Symbols = WordScratch<Symbol, kUsualWord>;

class Bpe final : public TokenModel {
 public:
  Bpe(Vocabulary vocabulary, MergeTable merges, platform::LargeVector<std::int32_t> made, BpeOptions options)
      : TokenModel(std::move(vocabulary)),
        merges_(std::move(merges)),
        made_(std::move(made)),
        options_(std::move(options)) {
    for (char32_t c = 0; c < initial_.size(); ++c) {
      std::string text;
      core::encode_utf8(c, [&text](char byte) { text.push_back(byte); });
      initial_[c] = this->vocabulary().find(text).value_or(-1);
    }
    for (unsigned byte = 0; byte < bytes_.size(); ++byte)
      bytes_[byte] = this->vocabulary().find(fmt::format("<0x{:02X}>", byte)).value_or(-1);
  }

  void tokenize(std::string_view word, std::vector<Token>& tokens) const override {
    if (options_.ignore_merges) {
      if (const auto id = vocabulary().find(word)) {
        tokens.push_back({*id, word.size()});
        return;
      }
    }
    const std::size_t added = options_.byte_fallback ? options_.prefix.size() : 0;
    // Places in the word are 32-bit numbers.
    if (word.size() >= kNoSymbol / (added + 1) - options_.suffix.size()) throw std::bad_alloc();
    Symbols symbols(word.size() * (added + 1) + options_.suffix.size() + 1);
    read_symbols(word, symbols);
    merge(symbols);
    std::size_t end = 0;
    for (const Symbol& symbol : symbols) {
      if (symbol.size == 0) continue;
      end += symbol.size;
      tokens.push_back({symbol.id, std::min(end, word.size())});
    }
  }

  // The bytes of both count as bytes of the word, so the reference's offsets exceed the word's end.
  std::string_view without_offsets() const override {
    const bool runs_over = options_.byte_fallback && !(options_.prefix.empty() && options_.suffix.empty());
    return runs_over ? "model.byte_fallback with a continuing_subword_prefix or end_of_word_suffix" : "";
  }

 private:
  // Turns the characters of the word into tokens.
  void read_symbols(std::string_view word, Symbols& symbols) const {
    const auto add = [&symbols](std::int32_t id, std::size_t size) {
      const auto place = static_cast<std::uint32_t>(symbols.size());
      symbols.push_back({id, static_cast<std::uint32_t>(size), place - 1, place + 1});  // the first one has kNoSymbol
    };
    const bool is_plain = options_.prefix.empty() && options_.suffix.empty();
    const char* const end = word.data() + word.size();
    std::size_t unknown_size = 0;
    // Unknown characters are collected until the next known one; bytes that represent another character precede them.
    const auto add_unknown = [&] {
      if (unknown_size > 0) add(*options_.unknown, unknown_size);
      unknown_size = 0;
    };
    std::string marked;
    for (const char* p = word.data(); p != end;) {
      const char* const begin = p;
      const char32_t c = core::decode_utf8(p);
      const auto size = static_cast<std::size_t>(p - begin);
      std::string_view text(begin, size);
      if (!is_plain) {
        marked.assign(begin == word.data() ? std::string_view() : options_.prefix).append(text);
        if (p == end) marked.append(options_.suffix);
        text = marked;
      }
      const std::int32_t id = is_plain && c < initial_.size() ? initial_[c] : vocabulary().find(text).value_or(-1);
      if (id >= 0) {
        add_unknown();
        add(id, size);
      } else if (options_.byte_fallback && has_all_bytes(text)) {
        for (const char byte : text)
          add(bytes_[static_cast<unsigned char>(byte)], 1);
      } else if (options_.unknown) {
        if (!options_.fuse_unk) add_unknown();
        unknown_size += size;
      }
    }
    add_unknown();
    if (!symbols.empty()) symbols[symbols.size() - 1].next = kNoSymbol;
  }

  [[nodiscard]] bool has_all_bytes(std::string_view text) const {
    return std::all_of(text.begin(), text.end(),
                       [this](char byte) { return bytes_[static_cast<unsigned char>(byte)] >= 0; });
  }

  // Merges the leftmost pair of the lowest rank until no pair can be merged.
  void merge(Symbols& symbols) const {
    if (symbols.size() < 2) return;
    // Rank and place of each pair, in the order in which pairs are merged. There is at most one entry for each pair at
    // first, and two more for each merge. Outdated entries are detected when they are taken.
    WordScratch<std::uint64_t, kUsualWord * 3> queue(symbols.size() * 3);
    const auto look_at = [&](std::uint32_t left, std::uint32_t right) {
      const auto* const found = merges_.find(symbols[left].id, symbols[right].id);
      if (found == nullptr) return false;
      queue.push_back(std::uint64_t{found->rank} << 32 | left);
      return true;
    };
    for (std::uint32_t i = 0; i + 1 < symbols.size(); ++i)
      look_at(i, i + 1);
    std::make_heap(queue.begin(), queue.end(), std::greater<>());
    while (!queue.empty()) {
      std::pop_heap(queue.begin(), queue.end(), std::greater<>());
      const std::uint64_t first = *(queue.end() - 1);
      queue.pop_back();
      const auto place = static_cast<std::uint32_t>(first);
      Symbol& left = symbols[place];
      if (left.size == 0 || left.next == kNoSymbol) continue;
      const Symbol right = symbols[left.next];
      // The pair may have changed. As in the reference, the entry is valid if it still gives the same token.
      const std::int32_t made = made_[static_cast<std::size_t>(first >> 32)];
      const auto* const now = merges_.find(left.id, right.id);
      if (now == nullptr || now->id != made) continue;

      symbols[left.next].size = 0;
      left.id = made;
      left.size += right.size;
      left.next = right.next;
      if (right.next != kNoSymbol) symbols[right.next].previous = place;
      if (left.previous != kNoSymbol && look_at(left.previous, place)) {
        std::push_heap(queue.begin(), queue.end(), std::greater<>());
      }
      if (left.next != kNoSymbol && look_at(place, left.next)) {
        std::push_heap(queue.begin(), queue.end(), std::greater<>());
      }
    }
  }

  const MergeTable merges_;
  const platform::LargeVector<std::int32_t> made_;  // the token of each rank
  const BpeOptions options_;
  std::array<std::int32_t, 0x180> initial_{};  // tokens of the characters that make up byte-level texts and most others
  std::array<std::int32_t, 256> bytes_{};      // tokens that represent a byte; -1: there is none
};

Result<bool> flag(const JsonView& view, std::string_view key) {
  const core::Json* value = view.find(key);
  if (value == nullptr || value->is_null()) return false;
  return view.boolean(key);
}

Result<std::optional<std::string>> text_or_nothing(const JsonView& view, std::string_view key, std::size_t bytes_max) {
  const core::Json* value = view.find(key);
  if (value == nullptr || value->is_null()) return std::optional<std::string>();
  LB_ASSIGN_OR_RETURN(std::string text, view.string(key));
  if (text.size() > bytes_max) {
    return Status(StatusCode::kUnsupported, fmt::format("model.{} is longer than {} bytes", key, bytes_max));
  }
  return std::optional(std::move(text));
}

Result<BpeOptions> read_bpe_options(const JsonView& view, const Vocabulary& vocabulary) {
  const core::Json* dropout = view.find("dropout");
  if (dropout != nullptr && !dropout->is_null()) {
    if (!dropout->is_number()) return Status(StatusCode::kInvalidModel, "model.dropout is not a number");
    if (dropout->get<double>() != 0) {
      return Status(StatusCode::kUnsupported, "model.dropout is not 0: its tokens would be random");
    }
  }
  BpeOptions options;
  LB_ASSIGN_OR_RETURN(const auto prefix, text_or_nothing(view, "continuing_subword_prefix", kAffixBytesMax));
  LB_ASSIGN_OR_RETURN(const auto suffix, text_or_nothing(view, "end_of_word_suffix", kAffixBytesMax));
  LB_ASSIGN_OR_RETURN(const auto unk_token, text_or_nothing(view, "unk_token", Vocabulary::kTokenBytesMax));
  LB_ASSIGN_OR_RETURN(options.fuse_unk, flag(view, "fuse_unk"));
  LB_ASSIGN_OR_RETURN(options.byte_fallback, flag(view, "byte_fallback"));
  LB_ASSIGN_OR_RETURN(options.ignore_merges, flag(view, "ignore_merges"));
  options.prefix = prefix.value_or("");
  options.suffix = suffix.value_or("");
  // The bytes of both become tokens of each character.
  constexpr std::size_t kWithBytesMax = 16;
  if (options.byte_fallback && options.prefix.size() + options.suffix.size() > kWithBytesMax) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("model.byte_fallback with a prefix and suffix of more than {} bytes", kWithBytesMax));
  }
  if (unk_token) {
    LB_ASSIGN_OR_RETURN(options.unknown, find_unknown(vocabulary, *unk_token));
  }
  return options;
}

}  // namespace

Result<TokenModelPtr> read_bpe(const JsonView& view, ModelLists lists) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
                                     "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"}));
  LB_RETURN_IF_ERROR(finish_vocabulary(view, VocabularyKind::kIds, lists));
  if (!lists.merges) return Status(StatusCode::kInvalidModel, "model has no 'merges' (an array)");
  LB_ASSIGN_OR_RETURN(BpeOptions options, read_bpe_options(view, lists.vocabulary));
  platform::LargeVector<MergeIds> ids(lists.merges->size());
  LB_RETURN_IF_ERROR(read_merges(*lists.merges, lists.vocabulary, options.prefix.size(), ids));
  LB_ASSIGN_OR_RETURN(MergeTable merges, make_table(ids));
  platform::LargeVector<std::int32_t> made;
  made.reserve(ids.size());
  for (const MergeIds& merge : ids)
    made.push_back(merge.made);
  return TokenModelPtr(
      std::make_unique<Bpe>(std::move(lists.vocabulary), std::move(merges), std::move(made), std::move(options)));
}

}  // namespace latebind::embedding
