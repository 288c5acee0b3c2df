// Whitespace, Punctuation, Digits and CharDelimiterSplit: pre-tokenizers that only examine the kind of each character.
#include "core/text/utf8.h"
#include "embedding/tokenizer/code_point_table.h"
#include "embedding/tokenizer/part_table.h"
#include "embedding/tokenizer/patterns/split_behavior.h"
#include "embedding/tokenizer/unicode.h"

namespace latebind::embedding {
namespace {

std::uint8_t char_properties(char32_t c) {
  return unicode::properties(c);
}

using CharProperties = CodePointTable<std::uint8_t, char_properties>;

bool has_property(char32_t c, unicode::Property property) {
  return (CharProperties::shared().of(c) & property) != 0;
}

bool is_number(char32_t c) {
  // The reference takes numbers from Unicode 17 here, and from 16 elsewhere.
  const bool is_newer = (c >= 0x11DE0 && c <= 0x11DE9) || (c >= 0x16FF4 && c <= 0x16FF6);
  return is_newer || has_property(c, unicode::kNumber);
}

// Words of characters of one kind. `kind_of(code point)` returns any number, and 0 for characters that are in no word.
template <class KindOf>
bool cut_runs(std::string_view text, WordSink& sink, KindOf kind_of) {
  const char* p = text.data();
  std::size_t begin = 0;
  int kind = 0;
  const auto give = [&](std::size_t end) {
    return kind == 0 || begin == end || sink.word({text.substr(begin, end - begin), begin, end});
  };
  for (std::size_t at = 0; at < text.size();) {
    const int next_kind = kind_of(core::decode_utf8(p));
    if (next_kind != kind) {
      if (!give(at)) return false;
      begin = at;
      kind = next_kind;
    }
    at = static_cast<std::size_t>(p - text.data());
  }
  return give(text.size());
}

// Words of word characters, and words of the other characters that are not white space.
class Whitespace final : public PreTokenizer {
 public:
  bool split(std::string_view text, WordSink& sink) const override {
    return cut_runs(text, sink, [](char32_t c) {
      if (has_property(c, unicode::kWordCharacter)) return 1;
      return has_property(c, unicode::kWhitespace) ? 0 : 2;
    });
  }
};

// Each mark is a match.
class Punctuation final : public PreTokenizer {
 public:
  explicit Punctuation(SplitBehavior behavior) : behavior_(behavior) {}

  bool split(std::string_view text, WordSink& sink) const override {
    BehaviorSplitter splitter(behavior_, false, text, sink);
    const char* p = text.data();
    for (std::size_t at = 0; at < text.size();) {
      const bool is_mark = has_property(core::decode_utf8(p), unicode::kPunctuation);
      const auto end = static_cast<std::size_t>(p - text.data());
      if (is_mark && !splitter.match(at, end)) return false;
      at = end;
    }
    return splitter.finish();
  }

 private:
  const SplitBehavior behavior_;
};

// Separates numbers from the rest, as a whole or by digits.
class Digits final : public PreTokenizer {
 public:
  explicit Digits(bool individual) : individual_(individual) {}

  bool split(std::string_view text, WordSink& sink) const override {
    if (!individual_) return cut_runs(text, sink, [](char32_t c) { return is_number(c) ? 1 : 2; });
    return cut_words(text, sink, [](char32_t c) { return is_number(c) ? CutKind::kAlone : CutKind::kInside; });
  }

 private:
  const bool individual_;
};

class CharDelimiterSplit final : public PreTokenizer {
 public:
  explicit CharDelimiterSplit(char32_t delimiter) : delimiter_(delimiter) {}

  bool split(std::string_view text, WordSink& sink) const override {
    return cut_words(text, sink, [this](char32_t c) { return c == delimiter_ ? CutKind::kGone : CutKind::kInside; });
  }

 private:
  const char32_t delimiter_;
};

}  // namespace

core::Result<PreTokenizerPtr> read_whitespace(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type"}));
  return PreTokenizerPtr(std::make_unique<Whitespace>());
}

core::Result<PreTokenizerPtr> read_punctuation(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "behavior"}));
  SplitBehavior behavior = SplitBehavior::kIsolated;
  if (view.find("behavior") != nullptr) {
    LB_ASSIGN_OR_RETURN(behavior, read_split_behavior(view));
  }
  return PreTokenizerPtr(std::make_unique<Punctuation>(behavior));
}

core::Result<PreTokenizerPtr> read_digits(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "individual_digits"}));
  LB_ASSIGN_OR_RETURN(const bool individual, view.boolean("individual_digits"));
  return PreTokenizerPtr(std::make_unique<Digits>(individual));
}

core::Result<PreTokenizerPtr> read_char_delimiter_split(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "delimiter"}));
  LB_ASSIGN_OR_RETURN(const std::string delimiter, view.character("delimiter"));
  const char* p = delimiter.data();
  return PreTokenizerPtr(std::make_unique<CharDelimiterSplit>(core::decode_utf8(p)));
}

}  // namespace latebind::embedding
