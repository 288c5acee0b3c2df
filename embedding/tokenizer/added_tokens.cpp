#include "embedding/tokenizer/added_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/text/quote.h"
#include "core/text/utf8.h"
#include "embedding/tokenizer/unicode.h"
#include "embedding/tokenizer/vocabulary.h"

namespace latebind::embedding {
namespace {

bool is_word_character(char32_t c) {
  return (unicode::properties(c) & unicode::kWordCharacter) != 0;
}
bool is_space(char32_t c) {
  return (unicode::properties(c) & unicode::kWhitespace) != 0;
}

// Whether two tokens share so long a beginning that a search at every place of a text would take too long.
bool share_beginning(std::string_view one, std::string_view other) {
  constexpr std::size_t kMost = Vocabulary::kSearchedBytesMax;
  return one.size() >= kMost && other.size() >= kMost && one.substr(0, kMost) == other.substr(0, kMost);
}

// Decodes the code point that ends before `end`, and moves `end` to its beginning.
char32_t decode_backwards(std::string_view text, std::size_t& end) {
  do {
    --end;
  } while (core::is_utf8_continuation(text[end]));
  const char* p = text.data() + end;
  return core::decode_utf8(p);
}

}  // namespace

core::Result<AddedTokenMatcher> AddedTokenMatcher::create(std::vector<AddedToken> tokens) {
  AddedTokenMatcher matcher;
  std::sort(tokens.begin(), tokens.end(), [](const auto& a, const auto& b) { return a.content < b.content; });
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0 && tokens[i].content == tokens[i - 1].content) {
      return core::Status(core::StatusCode::kInvalidModel,
                          fmt::format("two added tokens look for {}", core::quoted(tokens[i].content)));
    }
    if (i > 0 && share_beginning(tokens[i - 1].content, tokens[i].content)) {
      return core::Status(core::StatusCode::kUnsupported, fmt::format("the first {} bytes of two added tokens are the "
                                                                      "same",
                                                                      Vocabulary::kSearchedBytesMax));
    }
    Range& range = matcher.by_first_byte_[static_cast<unsigned char>(tokens[i].content.front())];
    if (range.end == 0) range.begin = static_cast<std::uint32_t>(i);
    range.end = static_cast<std::uint32_t>(i + 1);
  }
  if (!tokens.empty() && tokens.front().content.front() == tokens.back().content.front()) {
    matcher.only_first_byte_ = tokens.front().content.front();
  }
  matcher.tokens_ = std::move(tokens);
  return matcher;
}

const AddedToken* AddedTokenMatcher::longest_at(std::string_view text) const {
  const Range range = by_first_byte_[static_cast<unsigned char>(text.front())];
  auto begin = tokens_.begin() + range.begin;
  auto end = tokens_.begin() + range.end;
  const AddedToken* longest = nullptr;
  // The tokens from begin to end agree with the text up to `depth`.
  for (std::size_t depth = 1; begin != end; ++depth) {
    if (begin->content.size() == depth) {
      longest = &*begin;
      ++begin;
    }
    if (depth == text.size()) break;
    if (end - begin == 1) {
      const std::string_view rest = std::string_view(begin->content).substr(depth);
      return text.substr(depth).starts_with(rest) ? &*begin : longest;
    }
    const auto byte = static_cast<unsigned char>(text[depth]);
    const auto at_depth = [depth](const AddedToken& token) { return static_cast<unsigned char>(token.content[depth]); };
    begin = std::partition_point(begin, end, [&](const AddedToken& token) { return at_depth(token) < byte; });
    end = std::partition_point(begin, end, [&](const AddedToken& token) { return at_depth(token) == byte; });
  }
  return longest;
}

std::optional<AddedTokenMatcher::Match> AddedTokenMatcher::find(std::string_view text, std::size_t from) const {
  if (tokens_.empty()) return std::nullopt;
  for (std::size_t start = from; start < text.size(); ++start) {
    if (only_first_byte_) {
      start = text.find(*only_first_byte_, start);
      if (start == std::string_view::npos) break;
    } else if (by_first_byte_[static_cast<unsigned char>(text[start])].end == 0) {
      continue;
    }
    if (const AddedToken* token = longest_at(text.substr(start))) {
      return Match{start, start + token->content.size(), token};
    }
  }
  return std::nullopt;
}

bool AddedTokenSplitter::stands_alone(const AddedTokenMatcher::Match& match) const {
  std::size_t before = match.start;
  if (match.start > 0 && is_word_character(decode_backwards(text_, before))) return false;
  const char* behind = text_.data() + match.stop;
  return match.stop == text_.size() || !is_word_character(core::decode_utf8(behind));
}

std::size_t AddedTokenSplitter::spaces_begin(std::size_t end, std::size_t floor) const {
  while (end > floor) {
    std::size_t before = end;
    if (!is_space(decode_backwards(text_, before))) break;
    end = before;
  }
  return std::max(end, floor);
}

std::size_t AddedTokenSplitter::spaces_end(std::size_t begin) {
  if (begin >= skipped_begin_ && begin < skipped_end_) return skipped_end_;
  std::size_t end = begin;
  while (end < text_.size()) {
    const char* p = text_.data() + end;
    if (!is_space(core::decode_utf8(p))) break;
    end = static_cast<std::size_t>(p - text_.data());
  }
  skipped_begin_ = begin;
  skipped_end_ = end;
  return end;
}

bool AddedTokenSplitter::next(Piece& piece) {
  if (waiting_) {
    piece = *waiting_;
    waiting_.reset();
    return true;
  }
  while (const auto match = matcher_.find(text_, searched_)) {
    searched_ = match->stop;
    if (match->token->single_word && !stands_alone(*match)) continue;
    // White space that an earlier token has included may contain a match. Its start then lies before `delivered_`; as
    // in the reference, the token counts nevertheless, and the text continues after it.
    const std::size_t start = match->token->lstrip ? spaces_begin(match->start, delivered_) : match->start;
    const std::size_t stop = match->token->rstrip ? spaces_end(match->stop) : match->stop;
    // The match consists of white space that an earlier token has included.
    if (start >= stop) continue;
    const Piece token{text_.substr(start, stop - start), match->token};
    const bool text_before = delivered_ < start;
    if (text_before) {
      waiting_ = token;
      piece = {text_.substr(delivered_, start - delivered_), nullptr};
    } else {
      piece = token;
    }
    delivered_ = stop;
    return true;
  }
  searched_ = text_.size();
  if (delivered_ >= text_.size()) return false;
  piece = {text_.substr(delivered_), nullptr};
  delivered_ = text_.size();
  return true;
}

}  // namespace latebind::embedding
