#include "embedding/tokenizer/aligned_encoder.h"

#include <algorithm>
#include <utility>

#include "core/text/utf8.h"
#include "embedding/tokenizer/aligned_text.h"
#include "embedding/tokenizer/char_map.h"
#include "embedding/tokenizer/post_processor.h"

namespace latebind::embedding {
namespace {

// White space, and the character that represents the space in byte-level tokens.
bool is_trimmed(char32_t c) {
  return c == U'\u0120' || CharMap::unchanged().lookup(c).kind() == CharKind::kSpace;
}

void count_spaces(std::string_view text, AlignedToken& token) {
  bool is_inside = false;
  for (const char* p = text.data(); p != text.data() + text.size();) {
    if (!is_trimmed(core::decode_utf8(p))) {
      is_inside = true;
      token.spaces_after = 0;
      continue;
    }
    ++token.spaces_after;
    if (!is_inside) ++token.spaces_before;
  }
}

std::size_t end_of_char(std::string_view text, std::size_t begin) {
  const char* p = text.data() + begin;
  core::decode_utf8(p);
  return static_cast<std::size_t>(p - text.data());
}

// Removes `count` characters from the beginning, but at most all.
void trim_beginning(std::string_view text, std::size_t count, TokenOffsets& offsets) {
  for (; count > 0 && offsets.begin < offsets.end; --count)
    offsets.begin = end_of_char(text, offsets.begin);
}

// Like the reference, leaves the end unchanged if the text has fewer than `count` characters before it.
void trim_end(std::string_view text, std::size_t count, TokenOffsets& offsets) {
  std::size_t end = offsets.end;
  for (; count > 0; --count) {
    if (end == 0) return;
    while (core::is_utf8_continuation(text[--end])) {
    }
  }
  offsets.end = std::max(end, offsets.begin);
}

}  // namespace

// The state of encoding one text.
class AlignedEncoder::Walk final : public WordSink {
 public:
  Walk(const AlignedEncoder& encoder, std::string_view text, std::size_t tokens_end)
      : parts_(encoder.parts_),
        raw_tokens_(encoder.raw_tokens_),
        normalized_tokens_(encoder.normalized_tokens_),
        counts_spaces_(!encoder.parts_.post_processor.trims.empty()),
        text_(text),
        tokens_end_(tokens_end) {}

  std::vector<AlignedToken> run() {
    if (tokens_end_ == 0) return {};
    AddedTokenSplitter splitter(raw_tokens_, text_);
    AddedTokenSplitter::Piece piece;
    bool go_on = true;
    while (go_on && splitter.next(piece)) {
      const auto begin = static_cast<std::size_t>(piece.text.data() - text_.data());
      go_on = piece.token != nullptr ? add(piece.token->id, {begin, begin + piece.text.size()}, piece.text)
                                     : normalize(piece.text, begin);
    }
    return std::move(tokens_);
  }

  bool word(const Word& word) override {
    found_.clear();
    parts_.model->tokenize(word.text, found_);
    places_.clear();
    if (word.places != nullptr) word.places->append_to(places_);
    const auto place = [&](std::size_t at) {
      return words_begin_ + (word.places != nullptr ? places_[at] : word.begin + at);
    };
    std::size_t begin = 0;
    std::size_t end = 0;
    bool go_on = true;
    for (const Token& token : found_) {
      if (token.end != end) begin = std::exchange(end, token.end);
      const std::string_view bytes = word.text.substr(begin, end - begin);
      go_on = add(token.id, offsets_of(place(begin), place(end - 1)), parts_.model->text_of(token.id, bytes));
    }
    return go_on;
  }

 private:
  bool normalize(std::string_view piece, std::size_t begin) {
    aligned_ = AlignedText(piece, begin);
    if (parts_.normalizer != nullptr) aligned_ = parts_.normalizer->align(aligned_);
    const std::string_view normalized = aligned_.text();
    AddedTokenSplitter splitter(normalized_tokens_, normalized);
    AddedTokenSplitter::Piece part;
    bool go_on = true;
    while (go_on && splitter.next(part)) {
      words_begin_ = static_cast<std::size_t>(part.text.data() - normalized.data());
      if (part.token == nullptr) {
        go_on = split(part.text);
      } else {
        go_on = add(part.token->id, offsets_of(words_begin_, words_begin_ + part.text.size() - 1), part.text);
      }
    }
    return go_on;
  }

  bool split(std::string_view words) {
    if (parts_.pre_tokenizer == nullptr) return word({words, 0, words.size()});
    std::size_t origin = 0;
    while (origin < words.size() && aligned_.origin(words_begin_ + origin) == 0)
      ++origin;
    return parts_.pre_tokenizer->split_from(words, origin, *this);
  }

  // The offsets of the normalized text's bytes from `first` to `last`.
  [[nodiscard]] TokenOffsets offsets_of(std::size_t first, std::size_t last) const {
    return {aligned_.origin(first), end_of_char(text_, aligned_.origin(last))};
  }

  bool add(std::int32_t id, TokenOffsets offsets, std::string_view text) {
    AlignedToken& token = tokens_.emplace_back(AlignedToken{id, offsets});
    if (counts_spaces_) count_spaces(text, token);
    return tokens_.size() < tokens_end_;
  }

  const TokenizerParts& parts_;
  const AddedTokenMatcher& raw_tokens_;
  const AddedTokenMatcher& normalized_tokens_;
  const bool counts_spaces_;
  const std::string_view text_;
  const std::size_t tokens_end_;
  AlignedText aligned_;          // the piece that is being normalized
  std::size_t words_begin_ = 0;  // position in it of the words that are being split
  std::vector<Token> found_;
  std::vector<std::size_t> places_;
  std::vector<AlignedToken> tokens_;
};

std::vector<AlignedToken> AlignedEncoder::encode(std::string_view text, std::size_t tokens_end) const {
  return Walk(*this, text, tokens_end).run();
}

void AlignedEncoder::trim(std::string_view text, std::vector<AlignedToken>& tokens) const {
  for (const OffsetTrim& trim : parts_.post_processor.trims) {
    for (AlignedToken& token : tokens) {
      const bool is_first = token.offsets.begin == 0 || (trim.sees_first_token && &token == &tokens.front());
      const bool was_added = is_first && trim.add_prefix_space && token.spaces_before == 1;
      if (!was_added) trim_beginning(text, token.spaces_before, token.offsets);
      if (token.spaces_after > 0) trim_end(text, token.spaces_after, token.offsets);
    }
  }
}

}  // namespace latebind::embedding
