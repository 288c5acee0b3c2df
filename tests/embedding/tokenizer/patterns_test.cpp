// Patterns: what expressions match, which are refused, and that matchers made for some find what the library finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/text/utf8.h"
#include "embedding/tokenizer/part_table.h"
#include "embedding/tokenizer/patterns/code_point_set.h"
#include "embedding/tokenizer/patterns/pattern.h"
#include "small_tokenizer.h"
#include "tests/support/json.h"
#include "words.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using Json = nlohmann::json;
using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

constexpr const char* kGpt2Expression = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr const char* kLlamaExpression =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kQwenExpression =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

class MatchList final : public MatchSink {
 public:
  bool match(std::size_t begin, std::size_t end) override {
    EXPECT_LT(begin, end);
    EXPECT_TRUE(places.empty() || places.back().second <= begin);
    places.emplace_back(begin, end);
    return true;
  }
  std::vector<std::pair<std::size_t, std::size_t>> places;
};

PatternPtr pattern_of(std::string_view expression) {
  auto pattern = Pattern::expression(expression);
  EXPECT_TRUE(pattern.ok()) << expression << ": " << pattern.status().to_string();
  return pattern.ok() ? *std::move(pattern) : Pattern::literal("no pattern");
}

Texts matches(const Pattern& pattern, std::string_view text) {
  MatchList list;
  EXPECT_TRUE(pattern.find_all(text, list));
  Texts texts;
  for (const auto& [begin, end] : list.places)
    texts.emplace_back(text.substr(begin, end - begin));
  return texts;
}

Texts matches(std::string_view expression, std::string_view text) {
  return matches(*pattern_of(expression), text);
}

std::string many_of(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i)
    all.append(text);
  return all;
}

Json split_part(const char* kind, const char* pattern, const char* behavior, bool invert = false) {
  return {{"type", "Split"}, {"pattern", {{kind, pattern}}}, {"behavior", behavior}, {"invert", invert}};
}

Texts split_words(const Json& part, std::string_view text) {
  const auto view = JsonView::object(json_of(part), "pre_tokenizer");
  const auto read = (*find_part(*view, kPreTokenizers))(*view);
  EXPECT_TRUE(read.ok()) << read.status().to_string();
  return read.ok() ? testing::words_of(**read, text) : Texts();
}

TEST(CodePointSetTest, UnitesIntersectsAndTurnsRound) {
  const CodePointSet set({{5, 9}, {1, 2}, {3, 3}, {8, 12}});
  EXPECT_EQ(set, CodePointSet({{1, 3}, {5, 12}}));
  EXPECT_EQ(set.complement(), CodePointSet({{0, 0}, {4, 4}, {13, 0x10FFFF}}));
  EXPECT_EQ(set.complement().complement(), set);
  EXPECT_EQ(set.intersected(CodePointSet(3, 5)), CodePointSet({{3, 3}, {5, 5}}));
  EXPECT_TRUE(set.intersected(set.complement()).empty());
  EXPECT_TRUE(CodePointSet(0, 0x10FFFF).complement().empty());
}

TEST(PatternTest, FindsWhatExpressionsSay) {
  EXPECT_EQ(matches(R"(\p{L}+)", "aé中 1ʰ"), (Texts{"aé中", "ʰ"}));
  EXPECT_EQ(matches(R"([^\s\p{L}]+)", "a1€ 中²"), (Texts{"1€", "²"}));
  EXPECT_EQ(matches(R"(a|ab)", "ab"), (Texts{"a"})) << "the first alternative, not the longest";
  EXPECT_EQ(matches(R"(\w+(?=!))", "ab cd!"), (Texts{"cd"}));
  EXPECT_EQ(matches(R"((?<!a)b)", "abb"), (Texts{"b"}));
  EXPECT_EQ(matches(R"((?=\w)\n?\w\s)", "-a\n"), (Texts{"a\n"})) << "which PCRE2's search for beginnings misses";
  EXPECT_EQ(matches(R"(a{2,3}?)", "aaaaa"), (Texts{"aa", "aa"}));
  EXPECT_EQ(matches(R"(a++a)", "aaa"), Texts{});
  EXPECT_EQ(matches(R"((?>a|ab)c)", "abc"), Texts{});
  EXPECT_EQ(matches(R"((?i:'s|k))", "'S'\u017F\u212AK"), (Texts{"'S", "'\u017F", "\u212A", "K"}));
  EXPECT_EQ(matches(R"([\w&&[^a-c]]+)", "abcde"), (Texts{"de"}));
  EXPECT_EQ(matches("'(?i:[sdmt]|ll)", "'S'\u017F'll'LL'x"), (Texts{"'S", "'\u017F", "'ll", "'LL"}));
  EXPECT_EQ(matches("(?i:[^a-jl-z]+)", "aK\u212A1\u017FS\u00C9"), (Texts{"K\u212A1", "\u00C9"}));
  EXPECT_EQ(matches("(?i:[[^k]&&a-z]+)", "aKk\u212AB\u017F"), (Texts{"a", "B\u017F"}))
      << "what is within is as it stands";
  EXPECT_EQ(matches(R"((?i:s[t].\s\D))", "\uFB06! aST! a"), (Texts{"ST! a"})) << "a class is no part of a ligature";
  EXPECT_EQ(matches("a(?i)b|c", "aBxCacC"), (Texts{"aB", "ac"})) << "all alternatives behind it";
  EXPECT_EQ(matches("(?i)ab|c", "ABC"), (Texts{"AB", "C"}));
  EXPECT_EQ(matches("(?:x(?i)y|z)w", "xYwxZwxzW"), (Texts{"xYw", "xZw"})) << "up to the end of its group";
  EXPECT_EQ(matches(R"([^(\s|[.,])]+)", "a|b (c.)"), (Texts{"a", "b", "c"}));
  EXPECT_EQ(matches(R"(.+)", "a\r\nb"), (Texts{"a\r", "b"}));
  EXPECT_EQ(matches(R"(\u4E2D|\x{1F600}|\x41)", "中\U0001F600A"), (Texts{"中", "\U0001F600", "A"}));
  EXPECT_EQ(matches(R"(\w)", "\u00BD"), (Texts{"\u00BD"}));
  EXPECT_EQ(matches(R"([\w])", "\u00BD"), Texts{}) << "as the reference's engine";
  EXPECT_EQ(matches(R"(\p{Lu})", "\u1C89"), (Texts{"\u1C89"})) << "of Unicode 16";
  EXPECT_EQ(matches("a", ""), Texts{});
}

TEST(PatternTest, KnowsAnchorsAsTheReferencesEngine) {
  const std::string text = "ab a\nba\n";
  EXPECT_EQ(matches("^.", text), (Texts{"a", "b"})) << "of every line";
  EXPECT_EQ(matches(".$", text), (Texts{"a", "a"}));
  EXPECT_EQ(matches(R"(\A.)", text), (Texts{"a"}));
  EXPECT_EQ(matches(R"(.\Z)", text), (Texts{"a"})) << "before a last end of a line";
  EXPECT_EQ(matches(R"(\n\z)", text), (Texts{"\n"}));
  EXPECT_EQ(matches(R"(a\z)", text), Texts{});
  EXPECT_EQ(matches(R"(\n^)", text), (Texts{"\n"})) << "no line begins at the end of the text";
  EXPECT_EQ(matches(R"(\n$)", "a\n\nb\n"), (Texts{"\n", "\n"}));
  EXPECT_EQ(matches(R"(a$)", "a\r\na\u2028a"), (Texts{"a"})) << "\\n alone ends a line";
  EXPECT_EQ(matches(R"(\b\w+\b)", "caf\u00E9 a_1-\u4E2D\u00BD"), (Texts{"caf\u00E9", "a_1", "\u4E2D\u00BD"}));
  EXPECT_EQ(matches(R"(\Ba)", "aa ba a"), (Texts{"a", "a"}));
  // Further on than is searched at once.
  EXPECT_EQ(matches(R"(^b)", std::string(9000, 'a') + "\nb"), (Texts{"b"}));
  EXPECT_EQ(matches(R"(\Aa)", std::string(9000, 'a')), (Texts{"a"}));
  EXPECT_EQ(matches(R"(a\z)", std::string(9000, 'a')), (Texts{"a"}));
}

TEST(PatternTest, RefusesWhatMayMeanSomethingElse) {
  for (const auto& [expression, why] : std::vector<std::pair<std::string, std::string>>{
           {R"(\Ga)", R"('\G')"},
           {"^", "that it can match the empty text"},
           {R"(\b+a)", "a repetition of what can match the empty text"},
           {"$+", "a repetition of a lookahead or lookbehind"},
           {"(?=a$)a", "a lookahead or lookbehind inside another one"},
           {"(?m)a", "a group that begins with '(?m'"},
           {R"(a\R)", R"('\R')"},
           {R"((a)\1)", R"('\1')"},
           {R"(\p{Han})", R"('\p{Han}')"},
           {R"(\p{)", R"(a '\p' without)"},
           {"a(?i)", "'(?i)' with nothing after it"},
           {"(?i-m:a)", "a group that begins with '(?i'"},
           {"(?<n>a)", "a group that begins with '(?<'"},
           {"(?i:[aé])", "a class of characters beyond ASCII where case is ignored"},
           {"(?i:[^é])", "a class of characters beyond ASCII where case is ignored"},
           {R"((?i)\p{L})", "such a class where case is ignored"},
           {R"((?i:\w))", "such a class where case is ignored"},
           {"(?i:é)", "a character beyond ASCII where case is ignored"},
           {"(?i:mass)", "letters that form a ligature"},
           {"a*", "that it can match the empty text"},
           {"(?:a?)+b", "a repetition of what can match the empty text"},
           {"a{2}+", "a '+' after a number of repetitions"},
           {"a{2}?", "a '?' after a fixed number of repetitions"},
           {"a+*", "a repetition of a repetition"},
           {"(?:a+?)+", "a repetition of a repetition if one of them is not greedy"},
           {"a{1001}", "a repetition of more than 1000 times"},
           {"(?:(?:a{99}){99}|b)", "more than 4096 characters and classes"},
           {"a{,}", "a '{' without a number of repetitions"},
           {"*", "a repetition of nothing"},
           {"(?=a)+b", "a repetition of a lookahead or lookbehind"},
           {"(?<=a+)b", "a lookbehind without a fixed length"},
           {"[[:alpha:]]", "a class in '[:' and ':]'"},
           {"[a-c-e]", "a '-' between characters that is not a range"},
           {"[b-a]", "a range without its end"},
           {"[]", "an empty class"},
           {"[a", "a '[' without its ']'"},
           {"(a", "a '(' without its ')'"},
           {"a)", "a ')' without its '('"},
           {R"(a\)", R"(a '\' at the end)"},
           {R"(\x{D800})", "a hexadecimal number that is not a character"},
           {std::string(70, '(') + "a" + std::string(70, ')'), "more than 64 groups in each other"},
           {std::string(4097, 'a'), "more than 4096 bytes"},
       }) {
    const auto pattern = Pattern::expression(expression);
    EXPECT_EQ(pattern.status().code(), StatusCode::kUnsupported) << expression;
    EXPECT_THAT(pattern.status().to_string(), HasSubstr(why)) << expression;
  }
  std::string many;
  for (char32_t c = 0x4E00; c < 0x4E00 + 251; ++c)
    core::encode_utf8(c, [&many](char byte) { many.push_back(byte); });
  EXPECT_THAT(Pattern::expression(many).status().to_string(), HasSubstr("more than 250 different characters"));
  const Json part = split_part("Regex", R"(a\G)", "Isolated");
  EXPECT_THAT(read_split(*JsonView::object(json_of(part), "pre_tokenizer")).status().to_string(),
              HasSubstr("pre_tokenizer.pattern.Regex 'a\\G' has something that is not supported: '\\G' (at byte 3)"));
}

// Characters of every kind that the expressions tell apart, and any others.
std::string generated_text(std::mt19937& random) {
  static const Texts kPieces = {"'",   "'s", "'S",     "'\u017F", "'LL", "'l",     "'Re",    "'ve",    "'t",
                                "'D",  " ",  "  ",     "\n",      "\r",  "\t",     "\u3000", "a",      "Z",
                                "é",   "中", "\u0301", "1",       "٣",   "²",      "Ⅷ",      "!",      "€",
                                "...", "_",  "😀",      "m",       "d",   "\u200d", "\u0085", "\u2028", "\v"};
  std::string text;
  for (std::size_t left = random() % 24; left > 0; --left) {
    if (random() % 4 != 0) {
      text += kPieces[random() % kPieces.size()];
      continue;
    }
    auto c = static_cast<char32_t>(random() % (random() % 3 == 0 ? unicode::kCodePointEnd : 0x3400));
    if (c >= 0xD800 && c <= 0xDFFF) c = 0xFFFD;
    core::encode_utf8(c, [&text](char byte) { text.push_back(byte); });
  }
  return text;
}

TEST(KnownPatternsTest, FindWhatTheLibraryFinds) {
  for (const char* expression : {kGpt2Expression, kLlamaExpression, kQwenExpression, " {2,}"}) {
    const PatternPtr known = pattern_of(expression);
    const PatternPtr compiled = pattern_of("(?:" + std::string(expression) + ")");
    std::mt19937 random(7);
    for (int i = 0; i < 20'000; ++i) {
      const std::string text = generated_text(random);
      ASSERT_EQ(matches(*known, text), matches(*compiled, text)) << expression << "\n" << text;
    }
    std::string every = "a";
    for (char32_t c = 0; c < unicode::kCodePointEnd; ++c) {
      if (c >= 0xD800 && c <= 0xDFFF) continue;
      core::encode_utf8(c, [&every](char byte) { every.push_back(byte); });
      every += c % 3 == 0 ? "a" : (c % 3 == 1 ? "1" : "!");
    }
    ASSERT_EQ(matches(*known, every), matches(*compiled, every)) << expression;
  }
}

TEST(KnownPatternsTest, CutShortFormsNumbersAndLineBreaks) {
  const char* const text = "I'LL 'say 12345\r\n\r\n  x  \n!?\n";
  EXPECT_EQ(matches(kLlamaExpression, text),
            (Texts{"I", "'LL", " '", "say", " ", "123", "45", "\r\n\r\n", " ", " x", "  \n", "!?\n"}));
  EXPECT_EQ(matches(kQwenExpression, "ab123"), (Texts{"ab", "1", "2", "3"}));
}

TEST(PatternTest, SeesMatchesLongerThanItSearchesAtOnce) {
  for (const std::size_t size : {2040U, 2047U, 2048U, 2049U, 5000U, 70'000U}) {
    const std::string letters = many_of("é", size);
    EXPECT_EQ(matches(R"(\p{L}+)", letters + " " + letters), (Texts{letters, letters})) << size;
    EXPECT_EQ(matches(R"(b)", letters + "b"), (Texts{"b"})) << size;
    EXPECT_EQ(matches(R"((?<=é)b)", letters + "b"), (Texts{"b"})) << size;
    EXPECT_EQ(matches(R"((?<!é)b)", letters + "b"), Texts{}) << size;
    EXPECT_EQ(matches(R"(\s+(?!\S)|\s+)", std::string(size, '\n') + "a").size(), 2U) << size;
    if (size > 10'000) continue;  // it is looked for at every place
    EXPECT_EQ(matches(R"(\p{L}+!)", letters + " a!"), (Texts{"a!"})) << size;
  }
}

TEST(PatternTest, EndsWithAnErrorWhenATextTakesTooMuch) {
  Json file = testing::small_tokenizer({"a", "b"});
  file["model"]["type"] = "WordLevel";
  file["model"].erase("continuing_subword_prefix");
  file["model"].erase("max_input_chars_per_word");
  const auto expect_error = [&file](const char* expression, const std::string& text) {
    file["pre_tokenizer"] = split_part("Regex", expression, "Isolated");
    const auto tokenizer = testing::open(file);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
    std::vector<std::int32_t> ids{7};
    const core::Status status = tokenizer->encode(text, 1'000'000, ids);
    EXPECT_EQ(status.code(), StatusCode::kUnsupported) << expression;
    EXPECT_THAT(status.to_string(), HasSubstr("takes too much time"));
    EXPECT_EQ(ids, (std::vector<std::int32_t>{7}));
    EXPECT_EQ(tokenizer->encode_end(text, 1'000'000, ids).status().code(), StatusCode::kUnsupported);
    EXPECT_EQ(testing::ids_of(*tokenizer, "b"), (std::vector<std::int32_t>{2, 5, 3})) << "it is as it was";
  };
  // A mark at the end, or the library sees that there is none.
  const std::string many_ways = std::string(1500, 'a') + " !";
  expect_error("(?:a|aa)+!", many_ways);
  expect_error("a+[bc]", std::string(60'000, 'a'));
  file["normalizer"] = {{"type", "Replace"}, {"pattern", {{"Regex", "(?:a|aa)+!"}}}, {"content", ""}};
  expect_error("b", many_ways);
}

TEST(SplitTest, DoesWithMatchesWhatItIsTold) {
  const char* const text = "a--b-";
  EXPECT_EQ(split_words(split_part("String", "-", "Removed"), text), (Texts{"a", "b"}));
  EXPECT_EQ(split_words(split_part("String", "-", "Isolated"), text), (Texts{"a", "-", "-", "b", "-"}));
  EXPECT_EQ(split_words(split_part("String", "-", "MergedWithPrevious"), text), (Texts{"a-", "-", "b-"}));
  EXPECT_EQ(split_words(split_part("String", "-", "MergedWithNext"), text), (Texts{"a", "-", "-b", "-"}));
  EXPECT_EQ(split_words(split_part("String", "-", "Contiguous"), text), (Texts{"a", "--", "b", "-"}));
  EXPECT_EQ(split_words(split_part("String", "-", "Removed", true), text), (Texts{"-", "-", "-"}));
  EXPECT_EQ(split_words(split_part("Regex", "[^-]", "MergedWithNext"), text), (Texts{"a--", "b-"}));
  EXPECT_EQ(split_words(split_part("String", "[^-]", "Removed"), text), (Texts{text})) << "no expression";
  EXPECT_EQ(split_words(split_part("String", "-", "Isolated"), ""), Texts{});
  const Json punctuation = {{"type", "Punctuation"}, {"behavior", "Contiguous"}};
  EXPECT_EQ(split_words(punctuation, "a b,.c。"), (Texts{"a b", ",.", "c", "。"}));
}

TEST(SplitTest, RefusesWhatItDoesNotKnow) {
  const auto refusal = [](const Json& part) {
    return read_split(*JsonView::object(json_of(part), "pre_tokenizer")).status().to_string();
  };
  EXPECT_THAT(refusal(split_part("String", "a", "isolated")), HasSubstr("pre_tokenizer.behavior 'isolated' is not"));
  EXPECT_THAT(refusal(split_part("String", "", "Isolated")), HasSubstr("pre_tokenizer.pattern.String is empty"));
  EXPECT_THAT(refusal(split_part("Other", "a", "Isolated")), HasSubstr("has the key 'Other'"));
  Json part = split_part("String", "a", "Isolated");
  part["more"] = 1;
  EXPECT_THAT(refusal(part), HasSubstr("has the key 'more'"));
}

TEST(SplitTest, StopsWhenTheSinkDoes) {
  for (const char* pattern : {"a", "[a]", kQwenExpression}) {
    const Json part = split_part("Regex", pattern, "Isolated");
    const auto read = read_split(*JsonView::object(json_of(part), "pre_tokenizer"));
    int count = 0;
    testing::WordFunction two([&count](const Word&) { return ++count < 2; });
    EXPECT_FALSE((*read)->split("a b a b a", two)) << pattern;
    EXPECT_EQ(count, 2) << pattern;
  }
}

TEST(UnicodeScriptsTest, KeepsScriptsTogether) {
  const Json part = {{"type", "UnicodeScripts"}};
  EXPECT_EQ(split_words(part, "Hey もしもし 中Ω"), (Texts{"Hey ", "もしもし 中", "Ω"}));
  EXPECT_EQ(split_words(part, "  a"), (Texts{"a"})) << "as in the reference";
  EXPECT_EQ(split_words(part, "  "), Texts{});
}

TEST(ByteLevelTest, FollowsASplitByAnExpression) {
  const Json part = {
      {"type", "Sequence"},
      {"pretokenizers",
       {split_part("Regex", kQwenExpression, "Isolated"),
        {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}}}}};
  const auto read = read_pre_tokenizer_sequence(*JsonView::object(json_of(part), "pre_tokenizer"));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  Texts words;
  testing::WordFunction sink([&words](const Word& word) {
    words.push_back(std::to_string(word.begin) + "-" + std::to_string(word.end) + std::string(word.text));
    return word.places != nullptr;
  });
  EXPECT_TRUE((*read)->split("It's é 12", sink));
  EXPECT_EQ(words, (Texts{"0-2It", "2-4's", "4-7ĠÃ©", "7-8Ġ", "8-91", "9-102"}));
}

}  // namespace
}  // namespace latebind::embedding
