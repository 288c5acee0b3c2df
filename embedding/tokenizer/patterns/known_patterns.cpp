#include "embedding/tokenizer/patterns/known_patterns.h"

#include <algorithm>

#include "embedding/tokenizer/unicode.h"

namespace latebind::embedding {
namespace {

constexpr std::string_view kSpaces = " {2,}";  // from SentencePiece models
constexpr std::string_view kGpt2[] = {
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
    R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
};
constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr bool is_blank(WordCharKind kind) {
  return kind == WordCharKind::kSpace || kind == WordCharKind::kLineBreak;
}
constexpr auto is_kind(WordCharKind wanted) {
  return [wanted](WordCharKind kind) { return kind == wanted; };
}

class SpacesPattern final : public Pattern {
 public:
  std::size_t size_min() const override { return 2; }
  bool find_all(std::string_view text, MatchSink& sink) const override {
    for (std::size_t at = text.find("  "); at != std::string_view::npos; at = text.find("  ", at)) {
      const std::size_t end = std::min(text.find_first_not_of(' ', at), text.size());
      if (!sink.match(at, end)) return false;
      at = end;
    }
    return true;
  }
};

template <class Words>
bool find_words(const Words& words, std::size_t size, MatchSink& sink) {
  for (std::size_t begin = 0; begin < size;) {
    const std::size_t end = words.end_of_word(begin);
    if (!sink.match(begin, end)) return false;
    begin = end;
  }
  return true;
}

class Gpt2Pattern final : public Pattern {
 public:
  bool find_all(std::string_view text, MatchSink& sink) const override {
    return find_words(Gpt2Words(text), text.size(), sink);
  }
};

class LlamaPattern final : public Pattern {
 public:
  explicit LlamaPattern(std::size_t numbers_max) : numbers_max_(numbers_max) {}
  bool find_all(std::string_view text, MatchSink& sink) const override {
    return find_words(LlamaWords(text, numbers_max_), text.size(), sink);
  }

 private:
  const std::size_t numbers_max_;
};

}  // namespace

PatternPtr known_pattern(std::string_view expression) {
  if (expression == kSpaces) return std::make_unique<SpacesPattern>();
  if (std::find(std::begin(kGpt2), std::end(kGpt2), expression) != std::end(kGpt2)) {
    return std::make_unique<Gpt2Pattern>();
  }
  if (expression == kLlama3) return std::make_unique<LlamaPattern>(3);
  if (expression == kQwen) return std::make_unique<LlamaPattern>(1);
  return nullptr;
}

WordCharKind word_char_kind(char32_t c) {
  if (c == '\r' || c == '\n') return WordCharKind::kLineBreak;
  const std::uint8_t properties = unicode::properties(c);
  if ((properties & unicode::kLetter) != 0) return WordCharKind::kLetter;
  if ((properties & unicode::kNumber) != 0) return WordCharKind::kNumber;
  return (properties & unicode::kWhitespace) != 0 ? WordCharKind::kSpace : WordCharKind::kOther;
}

std::size_t Gpt2Words::end_of_word(std::size_t begin) const {
  const std::string_view text = chars_.text();
  if (text[begin] == '\'') {
    if (const std::size_t size = short_form(begin)) return begin + size;
  }
  std::size_t at = begin;
  WordCharKind kind = chars_.read(at);
  if (text[begin] == ' ' && at < text.size()) {
    std::size_t behind = at;
    const WordCharKind next = chars_.read(behind);
    if (!is_blank(next)) {
      at = behind;
      kind = next;
    }
  }
  if (!is_blank(kind)) return chars_.run(at, is_kind(kind)).end;
  const WordChars::Run run = chars_.run(at, is_blank);
  // The last one of several spaces belongs to the following word.
  const bool leaves_last = run.end < text.size() && run.last > begin;
  return leaves_last ? run.last : run.end;
}

// Bytes of the English contraction at this place, or 0.
std::size_t Gpt2Words::short_form(std::size_t at) const {
  const std::string_view rest = chars_.text().substr(at + 1, 2);
  if (rest.empty()) return 0;
  if (rest.front() == 's' || rest.front() == 't' || rest.front() == 'm' || rest.front() == 'd') return 2;
  return rest == "re" || rest == "ve" || rest == "ll" ? 3 : 0;
}

std::size_t LlamaWords::end_of_word(std::size_t begin) const {
  const std::string_view text = chars_.text();
  if (text[begin] == '\'') {
    if (const std::size_t size = short_form(begin)) return begin + size;
  }
  std::size_t at = begin;
  const WordCharKind kind = chars_.read(at);
  const auto is_letter = is_kind(WordCharKind::kLetter);
  if (kind == WordCharKind::kLetter) return chars_.run(at, is_letter).end;
  if (kind == WordCharKind::kNumber) {
    return chars_.run(at, is_kind(WordCharKind::kNumber), numbers_max_ - 1).end;
  }
  std::size_t behind = at;
  const WordCharKind next = at < text.size() ? chars_.read(behind) : WordCharKind::kSpace;
  if (kind != WordCharKind::kLineBreak && next == WordCharKind::kLetter) return chars_.run(behind, is_letter).end;
  if (kind == WordCharKind::kOther || (text[begin] == ' ' && next == WordCharKind::kOther)) {
    const std::size_t end = chars_.run(at, is_kind(WordCharKind::kOther)).end;
    return chars_.run(end, is_kind(WordCharKind::kLineBreak)).end;
  }
  return end_of_space(begin);
}

// Ends after the last line break of this white space. Without a line break, it ends before the last character, which
// belongs to the following word.
std::size_t LlamaWords::end_of_space(std::size_t begin) const {
  std::size_t last = begin;
  std::size_t behind_break = 0;
  std::size_t at = begin;
  while (at < chars_.text().size()) {
    std::size_t next = at;
    const WordCharKind kind = chars_.read(next);
    if (!is_blank(kind)) break;
    if (kind == WordCharKind::kLineBreak) behind_break = next;
    last = at;
    at = next;
  }
  if (behind_break > 0) return behind_break;
  return at < chars_.text().size() && last > begin ? last : at;
}

std::size_t LlamaWords::short_form(std::size_t at) const {
  const std::string_view rest = chars_.text().substr(at + 1, 2);
  if (rest.empty()) return 0;
  if (rest == "\u017F") return 3;  // the long s
  const auto lower = [&rest](std::size_t i) { return i < rest.size() ? static_cast<char>(rest[i] | 0x20) : '\0'; };
  const char first = lower(0);
  const char second = lower(1);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  const bool is_long =
      (first == 'r' && second == 'e') || (first == 'v' && second == 'e') || (first == 'l' && second == 'l');
  return is_long ? 3 : 0;
}

}  // namespace latebind::embedding
