// The normalizers, pre-tokenizers and decoders that tokenizers from SentencePiece have beside their model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "embedding/tokenizer/part_table.h"
#include "recorded.h"
#include "small_tokenizer.h"
#include "tests/support/json.h"
#include "words.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using Json = nlohmann::json;
using ::testing::HasSubstr;
using Ids = std::vector<std::int32_t>;
using Texts = std::vector<std::string>;

std::string normalized(const Json& part, std::string_view text) {
  const auto view = JsonView::object(json_of(part), "normalizer");
  const auto read = find_part(*view, kNormalizers);
  const auto normalizer = (*read)(*view);
  EXPECT_TRUE(normalizer.ok()) << normalizer.status().to_string();
  return normalizer.ok() ? (*normalizer)->normalize(text) : std::string();
}

Texts words(const Json& part, std::string_view text) {
  const auto view = JsonView::object(json_of(part), "pre_tokenizer");
  const auto pre_tokenizer = (*find_part(*view, kPreTokenizers))(*view);
  EXPECT_TRUE(pre_tokenizer.ok()) << pre_tokenizer.status().to_string();
  Texts all;
  std::size_t begin = 0;
  testing::WordFunction sink([&](const Word& word) {
    EXPECT_FALSE(word.text.empty());
    EXPECT_LE(begin, word.begin);
    EXPECT_LT(word.begin, word.end);
    EXPECT_LE(word.end, text.size());
    begin = word.begin;
    all.emplace_back(word.text);
    return true;
  });
  EXPECT_TRUE((*pre_tokenizer)->split(text, sink));
  return all;
}

Texts decoded(const Json& part, const Texts& tokens) {
  const Json parsed = Json::parse(part.dump());  // numbers as a parser makes them
  const auto view = JsonView::object(json_of(parsed), "decoder");
  const auto decoder = (*find_part(*view, kDecoders))(*view);
  EXPECT_TRUE(decoder.ok()) << decoder.status().to_string();
  return decoder.ok() ? (*decoder)->decode(tokens) : Texts();
}

template <class Parts>
void expect_part_refused(const Parts& parts, const Json& part, StatusCode code, const std::string& message) {
  const auto view = JsonView::object(json_of(part), "part");
  const auto reader = find_part(*view, parts);
  const core::Status status = reader.ok() ? (*reader)(*view).status() : reader.status();
  EXPECT_EQ(status.code(), code) << message;
  EXPECT_THAT(status.to_string(), HasSubstr(message));
}

Json replace(const char* kind, const char* pattern, const char* content) {
  return {{"type", "Replace"}, {"pattern", {{kind, pattern}}}, {"content", content}};
}

Json metaspace(const char* scheme = "always", bool split = true) {
  return {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", scheme}, {"split", split}};
}

TEST(StripTest, LeavesOutWhiteSpaceAtTheEnds) {
  const auto strip = [](bool left, bool right) {
    return Json{{"type", "Strip"}, {"strip_left", left}, {"strip_right", right}};
  };
  EXPECT_EQ(normalized(strip(true, true), " \u3000a b\u00a0\n"), "a b");
  EXPECT_EQ(normalized(strip(true, false), " \u3000a "), "a ");
  EXPECT_EQ(normalized(strip(false, true), " a\u2003 "), " a");
  EXPECT_EQ(normalized(strip(false, false), " a "), " a ");
  EXPECT_EQ(normalized(strip(true, true), " \u3000 "), "");
  EXPECT_EQ(normalized(strip(false, true), "é"), "é");
}

TEST(ReplaceTest, ReplacesTextsAndRunsOfSpaces) {
  EXPECT_EQ(normalized(replace("String", " ", "▁"), " a  b"), "▁a▁▁b");
  EXPECT_EQ(normalized(replace("String", "aa", "a"), "aaaaa"), "aaa");
  EXPECT_EQ(normalized(replace("String", "a", ""), "abab"), "bb");
  EXPECT_EQ(normalized(replace("String", ".", "!"), "a.b"), "a!b") << "no regular expression";
  EXPECT_EQ(normalized(replace("Regex", " {2,}", "▁"), "a b  c   d "), "a b▁c▁d ");
  EXPECT_EQ(normalized(replace("Regex", " {2,}", " "), "    "), " ");
  EXPECT_EQ(normalized(replace("Regex", " {2,}", " "), ""), "");
  EXPECT_EQ(decoded(replace("String", "▁", " "), {"▁a", "b▁▁", ""}), (Texts{" a", "b  ", ""}));
  EXPECT_EQ(normalized(replace("Regex", "\\s+", " "), "\n a\t\u3000b"), " a b");
  EXPECT_EQ(decoded(replace("Regex", "[aé]b?", "x"), {"ab", "éa", "b"}), (Texts{"x", "xx", "b"}));
  expect_part_refused(kNormalizers, replace("Regex", "\\Ga", " "), StatusCode::kUnsupported,
                      "part.pattern.Regex '\\Ga' has something that is not supported: '\\G' (at byte 2)");
  expect_part_refused(kNormalizers, replace("String", "", "x"), StatusCode::kUnsupported,
                      "part.pattern.String is empty");
  expect_part_refused(kDecoders, replace("Other", "a", "x"), StatusCode::kUnsupported,
                      "part.pattern has the key 'Other'");
}

TEST(PrependTest, PutsATextBeforeAllThatAreNotEmpty) {
  const Json part = {{"type", "Prepend"}, {"prepend", "▁"}};
  EXPECT_EQ(normalized(part, "a"), "▁a");
  EXPECT_EQ(normalized(part, " "), "▁ ");
  EXPECT_EQ(normalized(part, ""), "");
  expect_part_refused(kNormalizers, {{"type", "Prepend"}, {"prepend", ""}}, StatusCode::kUnsupported,
                      "part.prepend has 0 bytes");
}

TEST(NmtTest, DropsControlsAndLevelsSeparators) {
  EXPECT_EQ(normalized({{"type", "Nmt"}}, "a\x01\x0B\x7F\tb\r\n\u200b\u200f\u2581\ufeff\ufffd\u200a\u0085c"),
            "a b       \u200a\u0085c");
}

TEST(UnicodeFormsTest, DecomposeAndCompose) {
  const auto form = [](const char* type, std::string_view text) { return normalized({{"type", type}}, text); };
  EXPECT_EQ(form("NFD", "é\u1e69가각ﬁ"), "e\u0301s\u0323\u0307\u1100\u1161\u1100\u1161\u11a8ﬁ");
  EXPECT_EQ(form("NFC", "e\u0301s\u0307\u0323\u1100\u1161\u11a8ﬁ"), "é\u1e69각ﬁ");
  EXPECT_EQ(form("NFKD", "éﬁⅧ"), "e\u0301fiVIII");
  EXPECT_EQ(form("NFKC", "e\u0301ﬁ㎏ｶﾞ"), "éfikgガ");
  EXPECT_EQ(form("NFC", "\u0301a\u0327\u0301\u0302"), "\u0301á\u0327\u0302");
  EXPECT_EQ(form("NFC", "a\u0305\u0301"), "a\u0305\u0301") << "a mark of the same class stands between";
  EXPECT_EQ(form("NFC", "\u0958\u2126"), "\u0915\u093cΩ") << "never composed, and one for another";
  EXPECT_EQ(form("NFC", "\U00011935\U00011930"), "\U00011935\U00011930") << "newer than the reference's data";
  EXPECT_EQ(form("NFKD", "\u32ff"), "\u32ff") << "newer than the reference's data";
  EXPECT_EQ(form("NFC", ""), "");
}

TEST(StripAccentsTest, LeavesOutMarksOfEveryKind) {
  EXPECT_EQ(normalized({{"type", "StripAccents"}}, "e\u0301é\u0903\u20dd!"), "eé!");
}

TEST(NormalizerSequenceTest, AppliesOneAfterTheOther) {
  const Json prepend = {{"type", "Prepend"}, {"prepend", " x"}};
  const Json lower = {{"type", "Lowercase"}};
  const auto sequence = [](const Json& parts) { return Json{{"type", "Sequence"}, {"normalizers", parts}}; };
  EXPECT_EQ(normalized(sequence({prepend, replace("String", " ", "Y"), lower}), "A B"), "yxayb");
  EXPECT_EQ(normalized(sequence(Json::array()), "A"), "A");
  expect_part_refused(kNormalizers, sequence({lower, {{"type", "Other"}}}), StatusCode::kUnsupported,
                      "part.normalizers[1] of type 'Other' is not supported");
  expect_part_refused(kNormalizers, sequence(Json::array({sequence(Json::array())})), StatusCode::kUnsupported,
                      "part is a Sequence inside a Sequence");
  expect_part_refused(kNormalizers, sequence(Json(17, lower)), StatusCode::kUnsupported, "part has more than 16 parts");
  const Json longer = replace("String", "a", "aaaaaaaaaaaaaaaaa");
  expect_part_refused(kNormalizers, sequence({longer, longer, longer}), StatusCode::kUnsupported,
                      "part could make a text more than 4096 times as long");
  expect_part_refused(kNormalizers, {{"type", "Sequence"}}, StatusCode::kInvalidModel, "part has no 'normalizers'");
}

std::string encoded(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k > bytes.size() ? '=' : kDigits[bits >> (18 - 6 * k) & 63U];
  }
  return text;
}

// A map whose keys are some bytes, each of which becomes the text of all of them.
class SomeMap {
 public:
  explicit SomeMap(std::string_view keys, std::string texts = std::string("xy\0", 3)) : texts_(std::move(texts)) {
    units_[0] = 256U << 10;
    for (const char key : keys) {
      const auto byte = static_cast<unsigned char>(key);
      units_[256U ^ byte] = byte | 1U << 8 | (256U ^ byte ^ 512U) << 10;
    }
    units_[512] = 1U << 31;
  }
  std::vector<std::uint32_t>& units() { return units_; }
  [[nodiscard]] Json part() const {
    std::string bytes;
    const auto add = [&bytes](std::size_t number) {
      for (unsigned i = 0; i < 4; ++i)
        bytes.push_back(static_cast<char>(static_cast<unsigned char>(number >> (8 * i) & 0xFFU)));
    };
    add(units_.size() * 4);
    for (const std::uint32_t unit : units_)
      add(unit);
    return {{"type", "Precompiled"}, {"precompiled_charsmap", encoded(bytes + texts_)}};
  }

 private:
  std::vector<std::uint32_t> units_ = std::vector<std::uint32_t>(1024);
  std::string texts_;
};

TEST(PrecompiledTest, LooksUpShortGraphemesAsAWholeAndOthersByCharacter) {
  const Json part = SomeMap("ae").part();
  EXPECT_EQ(normalized(part, "abe"), "xybxy");
  EXPECT_EQ(normalized(part, "e\u0301b\u0301"), "xyb\u0301") << "the mark is gone with the letter";
  EXPECT_EQ(normalized(part, "e\u0301\u0302"), "xy") << "five bytes";
  EXPECT_EQ(normalized(part, "e\u0301\u0302\u0303"), "xy\u0301\u0302\u0303") << "seven";
  EXPECT_EQ(normalized(part, "\u0600a"), "\u0600xy") << "no key begins it";
  EXPECT_EQ(normalized(part, ""), "");
  EXPECT_EQ(normalized(SomeMap("\xC3").part(), "é\u00c3\u0301A"), "xyxyA") << "a key may be part of a character";
  EXPECT_EQ(normalized(SomeMap("\r").part(), "\r\n\r\n\n"), "xyxy\n");
  EXPECT_EQ(normalized(SomeMap("a", "").part(), "abc"), "bc");
}

TEST(PrecompiledTest, KnowsTheRulesOfSentencePiece) {
  std::ifstream file(testing::recorded_file("unigram.json"));
  const Json part = Json::parse(file)["normalizer"]["normalizers"][0];
  EXPECT_EQ(normalized(part, "ﬁ Ⅷ ½ e\u0301 ﷺ \u00a0x\t\u3000"), "fi VIII 1⁄2 é صلى الله عليه وسلم  x  ");
  EXPECT_EQ(normalized(part, "ｶﾞ"), "カ\u3099") << "six bytes, and so not ガ";
  EXPECT_EQ(normalized(part, "a\u200b\u0001b\u00ad"), "a b\u00ad");
}

TEST(PrecompiledTest, RefusesMapsThatLeadOutOfThemselves) {
  const auto refused = [](const Json& part, const std::string& message) {
    expect_part_refused(kNormalizers, part, StatusCode::kInvalidModel, "part.precompiled_charsmap is " + message);
  };
  const auto changed = [&](std::size_t unit, std::uint32_t bits) {
    SomeMap map("ab");
    map.units()[unit] = bits;
    return map.part();
  };
  const std::string leads_out = "not a map: it refers outside itself";
  refused(changed(0, 1024U << 10), leads_out);
  refused(changed(0, 4U << 10 | 1U << 9), leads_out);
  refused(changed(256U ^ 'b', 'b' | 1U << 20), leads_out);
  SomeMap short_map("a");
  short_map.units().resize(600);
  refused(short_map.part(), leads_out);
  const std::string no_text = "not a map: a key does not become a text of at most 256 bytes";
  refused(changed(512, 4), no_text);
  refused(SomeMap("a", std::string(257, 'x')).part(), no_text);
  SomeMap inside("a", "é");
  inside.units()[512] = 1;
  refused(inside.part(), no_text);
  refused(SomeMap("a", "\xFF").part(), "not a map: its texts are not UTF-8");
  const auto of = [](std::string_view bytes) {
    return Json{{"type", "Precompiled"}, {"precompiled_charsmap", encoded(bytes)}};
  };
  const std::string size = "not a map: its size is wrong";
  refused(of(""), size);
  refused(of(std::string_view("\0\0\0\0abcd", 8)), size);
  refused(of(std::string_view("\x08\0\0\0abcd", 8)), size);
  refused(of(std::string_view("\xFF\xFF\xFF\xFF", 4)), size);
  refused({{"type", "Precompiled"}, {"precompiled_charsmap", "A"}}, "not Base64");
  // What cannot be reached does no harm, and neither does a node that is its own child.
  EXPECT_EQ(normalized(changed(300U, 'q' | 1U << 20), "ab"), "xyxy");
  EXPECT_EQ(normalized(changed(256U ^ 'b', 'b' | ('b' << 10)), "bbbb\u0301a"), "bbbb\u0301xy");
}

TEST(MetaspaceTest, BeginsAWordAtEverySpace) {
  EXPECT_EQ(words(metaspace(), "Hey friend"), (Texts{"▁Hey", "▁friend"}));
  EXPECT_EQ(words(metaspace(), " a  b▁c "), (Texts{"▁a", "▁", "▁b", "▁c", "▁"}));
  EXPECT_EQ(words(metaspace(), "▁▁a"), (Texts{"▁", "▁a"}));
  EXPECT_EQ(words(metaspace(), "a\tb\u3000▂"), (Texts{"▁a\tb\u3000▂"}));
  EXPECT_EQ(words(metaspace("never"), "a b"), (Texts{"a", "▁b"}));
  EXPECT_EQ(words(metaspace("never"), " a"), (Texts{"▁a"}));
  EXPECT_EQ(words(metaspace("always", false), "a b▁"), (Texts{"▁a▁b▁"}));
  EXPECT_EQ(words(metaspace("never", false), "a b"), (Texts{"a▁b"}));
  EXPECT_EQ(words(metaspace(), ""), Texts{});
  Json with_letter = metaspace();
  with_letter["replacement"] = "_";
  EXPECT_EQ(words(with_letter, "a_b c"), (Texts{"_a", "_b", "_c"}));
}

// Ids of the characters behind 1, that of the mark: of 'a', 'b' and so on.
Json first_alone(const Json& normalizer, const Json& pre_tokenizer) {
  Json vocab = Json::array({Json::array({"<unk>", 0.0}), Json::array({"▁", -1.0})});
  for (char c = 'a'; c <= 'd'; ++c)
    vocab.push_back(Json::array({std::string(1, c), -1.0}));
  return {{"normalizer", normalizer},
          {"pre_tokenizer", pre_tokenizer},
          {"added_tokens", {testing::added_token("X", 6)}},
          {"model", {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocab}}}};
}

TEST(MetaspaceTest, MarksTheVeryBeginningAlone) {
  const Json first = metaspace("first");
  EXPECT_EQ(testing::ids_of(first_alone(nullptr, first), "abXcX b"), (Ids{1, 2, 3, 6, 4, 6, 1, 3}));
  EXPECT_EQ(testing::ids_of(first_alone(nullptr, first), "Xa"), (Ids{6, 2}));
  EXPECT_EQ(testing::ids_of(first_alone(nullptr, first), " a"), (Ids{1, 2}));
  const Json words = {{"type", "Sequence"}, {"pretokenizers", {{{"type", "WhitespaceSplit"}}, first}}};
  EXPECT_EQ(testing::ids_of(first_alone(nullptr, words), "a bXc"), (Ids{1, 2, 3, 6, 4}));
  EXPECT_EQ(testing::ids_of(first_alone(nullptr, words), " a b"), (Ids{2, 3})) << "the space was the beginning";
  EXPECT_EQ(
      testing::ids_of(first_alone({{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}}, first), " a "),
      (Ids{2}));
  EXPECT_EQ(testing::ids_of(first_alone(replace("String", "a", "b c"), words), "ab"), (Ids{1, 3, 1, 4, 3}))
      << "both come from the first character";
  EXPECT_EQ(testing::ids_of(first_alone(replace("String", "ab", "c d"), words), "abc"), (Ids{4, 5, 4}));
  EXPECT_EQ(testing::ids_of(first_alone({{"type", "Prepend"}, {"prepend", "b "}}, words), "a"), (Ids{1, 3, 1, 2}));
  EXPECT_EQ(testing::ids_of(first_alone({{"type", "Nmt"}}, words),
                            "\x01"
                            "a"),
            (Ids{2}));
  EXPECT_EQ(testing::ids_of(first_alone(SomeMap("\x01", "").part(), words),
                            "\x01"
                            "a b"),
            (Ids{1, 2, 3}))
      << "what vanishes at the beginning is forgotten";
}

TEST(MetaspaceTest, RefusesTheVeryBeginningWhereItCannotBeTold) {
  const auto refused = [](const Json& file, const std::string& message) {
    const auto tokenizer = testing::open(file);
    ASSERT_FALSE(tokenizer.ok()) << message;
    EXPECT_EQ(tokenizer.status().code(), StatusCode::kUnsupported);
    EXPECT_THAT(tokenizer.status().to_string(), HasSubstr(message));
  };
  const std::string behind = "pre_tokenizer with prepend_scheme 'first' is not supported after this normalizer";
  const Json lower = {{"type", "Lowercase"}};
  refused(first_alone(lower, metaspace("first")), behind);
  refused(first_alone({{"type", "Sequence"}, {"normalizers", {{{"type", "Nmt"}}, lower}}}, metaspace("first")), behind);
  const Json after = {{"type", "Sequence"}, {"pretokenizers", {metaspace(), metaspace("first")}}};
  refused(first_alone(nullptr, after), "pre_tokenizer has a part with prepend_scheme 'first' after another");
  EXPECT_TRUE(testing::open(first_alone(lower, metaspace())).ok());
}

TEST(MetaspaceTest, ReadsEarlyForms) {
  const Json early = {{"type", "Metaspace"}, {"replacement", "▁"}, {"add_prefix_space", true}, {"str_rep", "▁"}};
  EXPECT_EQ(words(early, "a b"), (Texts{"▁a", "▁b"}));
  Json both = metaspace("never");
  both["add_prefix_space"] = false;
  EXPECT_EQ(words(both, "a b"), (Texts{"a", "▁b"}));
  both["add_prefix_space"] = true;  // the scheme counts
  EXPECT_EQ(words(both, "a b"), (Texts{"a", "▁b"}));
}

TEST(MetaspaceTest, RefusesWhatItDoesNotKnow) {
  const auto refused = [](const char* key, const Json& value, StatusCode code, const std::string& message) {
    Json part = metaspace();
    part[key] = value;
    expect_part_refused(kPreTokenizers, part, code, message);
    expect_part_refused(kDecoders, part, code, message);
  };
  refused("prepend_scheme", "last", StatusCode::kUnsupported, "part.prepend_scheme 'last' is not supported");
  refused("prepend_scheme", nullptr, StatusCode::kInvalidModel, "part.prepend_scheme is not a string");
  refused("replacement", "▁▁", StatusCode::kInvalidModel, "part.replacement is not one character");
  refused("replacement", "", StatusCode::kInvalidModel, "part.replacement is not one character");
  refused("split", 1, StatusCode::kInvalidModel, "part.split is not true or false");
  refused("add_prefix_space", false, StatusCode::kInvalidModel,
          "part.add_prefix_space is false, and prepend_scheme is not");
  refused("other", 1, StatusCode::kUnsupported, "part has the key 'other'");
}

TEST(PreTokenizerSequenceTest, SplitsWordsAgain) {
  const Json space = {{"type", "WhitespaceSplit"}};
  const Json bert = {{"type", "BertPreTokenizer"}};
  const auto sequence = [](const Json& parts) { return Json{{"type", "Sequence"}, {"pretokenizers", parts}}; };
  EXPECT_EQ(words(sequence({space, metaspace()}), " a\t\tb▁c "), (Texts{"▁a", "▁b", "▁c"}));
  EXPECT_EQ(words(sequence({space, bert, metaspace("never")}), "a-b c."), (Texts{"a", "-", "b", "c", "."}));
  EXPECT_EQ(words(sequence({metaspace(), bert}), "a b."), (Texts{"▁a", "▁b", "."}));
  EXPECT_EQ(words(sequence(Json::array()), "a b"), (Texts{"a b"}));
  const auto part = read_pre_tokenizer_sequence(*JsonView::object(json_of(sequence({space, bert})), "part"));
  EXPECT_EQ(testing::words_of(**part, " a-b  (é) "), (Texts{"a", "-", "b", "(", "é", ")"}));
  std::size_t count = 0;
  testing::WordFunction two([&count](const Word&) { return ++count < 2; });
  EXPECT_FALSE((*part)->split("a-b c d", two));
  EXPECT_EQ(count, 2U);
}

TEST(CharClassesTest, CutByTheKindOfEachCharacter) {
  const auto cut = [](Json part, const char* type, std::string_view text) {
    part["type"] = type;
    const auto view = JsonView::object(json_of(part), "part");
    const auto read = (*find_part(*view, kPreTokenizers))(*view);
    EXPECT_TRUE(read.ok()) << read.status().to_string();
    return read.ok() ? testing::words_of(**read, text) : Texts();
  };
  const Json none = Json::object();
  EXPECT_EQ(cut(none, "Whitespace", " Hey_1, you!?\u3000é\u0301€"), (Texts{"Hey_1", ",", "you", "!?", "é\u0301", "€"}));
  EXPECT_EQ(cut(none, "Whitespace", " \n"), Texts{});
  EXPECT_EQ(cut(none, "Punctuation", "a b,.c。"), (Texts{"a b", ",", ".", "c", "。"}));
  EXPECT_EQ(cut({{"behavior", "Isolated"}}, "Punctuation", "!a"), (Texts{"!", "a"}));
  EXPECT_EQ(cut({{"individual_digits", true}}, "Digits", "a12 Ⅷ\U00011DE0"),
            (Texts{"a", "1", "2", " ", "Ⅷ", "\U00011DE0"}));
  EXPECT_EQ(cut({{"individual_digits", false}}, "Digits", "12a b½3"), (Texts{"12", "a b", "½3"}));
  EXPECT_EQ(cut({{"delimiter", "é"}}, "CharDelimiterSplit", "éaéébc"), (Texts{"a", "bc"}));
  expect_part_refused(kPreTokenizers, {{"type", "Punctuation"}, {"behavior", "removed"}}, StatusCode::kUnsupported,
                      "part.behavior 'removed' is not supported");
  expect_part_refused(kPreTokenizers, {{"type", "CharDelimiterSplit"}, {"delimiter", "ab"}}, StatusCode::kInvalidModel,
                      "part.delimiter is not one character");
}

TEST(MetaspaceDecoderTest, MakesSpacesAgain) {
  EXPECT_EQ(decoded(metaspace(), {"▁a▁b", "▁c", "d"}), (Texts{"ab", " c", "d"}));
  EXPECT_EQ(decoded(metaspace("first"), {"▁a", "▁c"}), (Texts{"a", " c"}));
  EXPECT_EQ(decoded(metaspace("never"), {"▁a", "▁c"}), (Texts{" a", " c"}));
}

TEST(ByteFallbackDecoderTest, JoinsTokensOfBytes) {
  const Json part = {{"type", "ByteFallback"}};
  EXPECT_EQ(decoded(part, {"a", "<0xC3>", "<0xa9>", "b", "<0x41>"}), (Texts{"a", "é", "b", "A"}));
  EXPECT_EQ(decoded(part, {"<0xE4>", "<0xB8>", "x"}), (Texts{"\uFFFD", "\uFFFD", "x"}));
  EXPECT_EQ(decoded(part, {"<0xG0>", "<0x4>", "<0x041>", "<0x+1>", "<0x-1>"}),
            (Texts{"<0xG0>", "<0x4>", "<0x041>", "\x01", "<0x-1>"}));
}

TEST(StripDecoderTest, TakesCharactersFromTheEndsOfTokens) {
  const auto strip = [](int start, int stop) {
    return Json{{"type", "Strip"}, {"content", "▁"}, {"start", start}, {"stop", stop}};
  };
  EXPECT_EQ(decoded(strip(1, 0), {"▁▁a", "a▁", "▁", ""}), (Texts{"▁a", "a▁", "", ""}));
  EXPECT_EQ(decoded(strip(2, 1), {"▁▁▁a▁▁", "▁▁"}), (Texts{"▁a▁", ""}));
}

TEST(DecoderSequenceTest, DecodesAsLlama) {
  const Json part = {{"type", "Sequence"},
                     {"decoders",
                      {replace("String", "▁", " "),
                       {{"type", "ByteFallback"}},
                       {{"type", "Fuse"}},
                       {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}};
  EXPECT_EQ(decoded(part, {"▁Hey", "▁<", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>", "▁"}), (Texts{"Hey <😀 "}));
  EXPECT_EQ(decoded({{"type", "Sequence"}, {"decoders", Json::array()}}, {"a", "b"}), (Texts{"a", "b"}));
}

}  // namespace
}  // namespace latebind::embedding
