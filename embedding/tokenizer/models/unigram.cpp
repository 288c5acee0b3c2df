// Unigram: splits a word into the tokens whose scores have the greatest sum.
//
// This is Viterbi's search. For each place in the word, from left to right, it keeps the best score of a split that
// ends there, and the last token of that split; the trie gives all tokens that begin at a place. If no token reaches
// past a place, the best split up to there is final: its tokens are written and its memory is reused, so that memory
// does not grow with the word. Scores continue from the full sum, since sums are rounded as in the reference.
//
// Source: Kudo 2018, "Subword Regularization".
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>

#include "core/text/utf8.h"
#include "embedding/tokenizer/models/model_vocabulary.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

// The best split of the word that ends at a place.
struct Place {
  double score;
  std::uint32_t size;  // of the token that ends here; 0: none found yet
  std::int32_t token;
};

// The places from the last final one to the furthest that a token reaches. For words of usual length, the memory is
// inside the object.
class Places {
 public:
  // A place is written before it is read; clearing all would take longer than most words.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init)
  explicit Places(double score) { restart(score); }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  void restart(double score) {
    reach_ = 0;
    data_[0] = {score, 0, 0};
  }
  [[nodiscard]] std::size_t reach() const { return reach_; }
  Place& operator[](std::size_t i) { return data_[i]; }
  // Extends the places to `reach`, at most one token further.
  void extend(std::size_t reach) {
    if (reach >= capacity_) grow(reach);
    while (reach_ < reach)
      data_[++reach_].size = 0;
  }

 private:
  static constexpr std::size_t kUsual = 256;

  void grow(std::size_t reach) {
    std::vector<Place> larger(std::max(capacity_ * 2, reach + 1));
    std::copy_n(data_, reach_ + 1, larger.begin());
    heap_ = std::move(larger);
    data_ = heap_.data();
    capacity_ = heap_.size();
  }

  std::array<Place, kUsual> inside_;
  std::vector<Place> heap_;
  Place* data_ = inside_.data();
  std::size_t capacity_ = kUsual;
  std::size_t reach_ = 0;
};

class Unigram final : public TokenModel {
 public:
  Unigram(Vocabulary vocabulary, platform::LargeVector<double> scores, std::int32_t unknown, bool byte_fallback)
      : TokenModel(std::move(vocabulary)),
        scores_(std::move(scores)),
        unknown_(unknown),
        unknown_score_(*std::min_element(scores_.begin(), scores_.end()) - kUnknownPenalty) {
    if (!byte_fallback) return;
    for (unsigned byte = 0; byte < bytes_.size(); ++byte)
      bytes_[byte] = this->vocabulary().find(fmt::format("<0x{:02X}>", byte)).value_or(-1);
  }

  void tokenize(std::string_view word, std::vector<Token>& tokens) const override {
    // Sizes of tokens are 32-bit numbers, and an unknown token can be as long as the word.
    if (word.size() > std::numeric_limits<std::uint32_t>::max()) throw std::bad_alloc();
    const std::size_t first = tokens.size();
    std::size_t decided = 0;  // the tokens of the best split up to here are written
    Places places(0.0);
    for (std::size_t at = 0; at < word.size();) {
      // If no token reaches past this place, later text cannot change the split up to here. Scores continue from that
      // of the whole split, since sums are rounded.
      if (at - decided >= kDecideAfter && places.reach() == at - decided) {
        append_way(places, at, decided, tokens);
        places.restart(places[at - decided].score);
        decided = at;
      }
      at += take_tokens_at(word.substr(at), at - decided, places);
    }
    append_way(places, word.size(), decided, tokens);
    name_unknown(word, first, tokens);
  }

  // The text of an unknown token is that of the word.
  std::string_view text_of(std::int32_t id, std::string_view bytes) const override {
    return id == unknown_ ? bytes : TokenModel::text_of(id, bytes);
  }

 private:
  static constexpr double kUnknownPenalty = 10.0;
  static constexpr std::size_t kDecideAfter = 128;

  // Extends the best split that ends at `at` by each token that begins there, or else by its character as an unknown
  // token. Returns the number of bytes of the character.
  std::size_t take_tokens_at(std::string_view rest, std::size_t at, Places& places) const {
    const double score = places[at].score;
    // Of equal scores, the first one is kept.
    const auto offer = [&](std::int32_t token, std::size_t size, double candidate) {
      places.extend(at + size);
      Place& end = places[at + size];
      if (end.size == 0 || candidate > end.score) end = {candidate, static_cast<std::uint32_t>(size), token};
    };
    const char* p = rest.data();
    core::decode_utf8(p);
    const auto char_size = static_cast<std::size_t>(p - rest.data());
    bool is_known = false;
    vocabulary().for_each_prefix(rest, [&](std::int32_t token, std::size_t size) {
      offer(token, size, scores_[static_cast<std::size_t>(token)] + score);
      is_known = is_known || size == char_size;
    });
    if (!is_known) offer(unknown_, char_size, unknown_score_ + score);
    return char_size;
  }

  static void append_way(Places& places, std::size_t end, std::size_t begin, std::vector<Token>& tokens) {
    const std::size_t first = tokens.size();
    while (end > begin) {
      const Place& place = places[end - begin];
      tokens.push_back({place.token, end});
      end -= place.size;
    }
    std::reverse(tokens.begin() + static_cast<std::ptrdiff_t>(first), tokens.end());
  }

  // Joins unknown neighbours, including occurrences of the unknown token itself. The joined text may turn out to be a
  // token, or its bytes may be.
  void name_unknown(std::string_view word, std::size_t first, std::vector<Token>& tokens) const {
    const auto is_unknown = [this](const Token& token) { return token.id == unknown_; };
    const auto from = std::find_if(tokens.begin() + static_cast<std::ptrdiff_t>(first), tokens.end(), is_unknown);
    if (from == tokens.end()) return;
    std::size_t begin = from == tokens.begin() + static_cast<std::ptrdiff_t>(first) ? 0 : (from - 1)->end;
    const std::vector<Token> way(from, tokens.end());
    tokens.erase(from, tokens.end());
    for (std::size_t i = 0; i < way.size(); begin = way[i++].end) {
      if (!is_unknown(way[i])) {
        tokens.push_back(way[i]);
        continue;
      }
      while (i + 1 < way.size() && is_unknown(way[i + 1]))
        ++i;
      append_unknown(word.substr(begin, way[i].end - begin), begin, tokens);
    }
  }

  void append_unknown(std::string_view text, std::size_t begin, std::vector<Token>& tokens) const {
    const auto byte_token = [this](char byte) { return bytes_[static_cast<unsigned char>(byte)]; };
    if (const auto id = vocabulary().find(text)) {
      tokens.push_back({*id, begin + text.size()});
    } else if (std::all_of(text.begin(), text.end(), [&](char byte) { return byte_token(byte) >= 0; })) {
      for (const char byte : text)
        tokens.push_back({byte_token(byte), begin + text.size()});
    } else {
      tokens.push_back({unknown_, begin + text.size()});
    }
  }

  const platform::LargeVector<double> scores_;  // by id
  const std::int32_t unknown_;
  const double unknown_score_;
  // The tokens that represent a byte, if unknown characters become bytes; -1: there is none.
  std::array<std::int32_t, 256> bytes_ = [] {
    std::array<std::int32_t, 256> none{};
    none.fill(-1);
    return none;
  }();
};

}  // namespace

Result<TokenModelPtr> read_unigram(const JsonView& view, ModelLists lists) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "unk_id", "vocab", "byte_fallback"}));
  LB_RETURN_IF_ERROR(finish_vocabulary(view, VocabularyKind::kScores, lists));
  // The reference fails at the first character that is in no token.
  if (const auto* unk_id = view.find("unk_id"); unk_id == nullptr || unk_id->is_null()) {
    return Status(StatusCode::kUnsupported, "a model without unk_id is not supported: it could not encode every text");
  }
  LB_ASSIGN_OR_RETURN(const std::uint64_t unk_id, view.whole_number("unk_id"));
  if (unk_id >= lists.vocabulary.size()) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("model.unk_id is {}, but there are {} tokens", unk_id, lists.vocabulary.size()));
  }
  bool byte_fallback = false;
  if (view.find("byte_fallback") != nullptr) {
    LB_ASSIGN_OR_RETURN(byte_fallback, view.boolean("byte_fallback"));
  }
  return TokenModelPtr(std::make_unique<Unigram>(std::move(lists.vocabulary), *std::move(lists.scores),
                                                 static_cast<std::int32_t>(unk_id), byte_fallback));
}

}  // namespace latebind::embedding
