// What is called ByteLevel: the normalizer, the pre-tokenizer, the decoder, the post-processor; and RobertaProcessing
// with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "embedding/tokenizer/byte_chars.h"
#include "embedding/tokenizer/part_table.h"
#include "small_tokenizer.h"
#include "tests/support/json.h"
#include "words.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using Json = nlohmann::json;
using ::testing::HasSubstr;
using Ids = std::vector<std::int32_t>;
using Words = std::vector<std::string>;

Json byte_level(bool add_prefix_space, bool use_regex = true) {
  return {
      {"type", "ByteLevel"}, {"add_prefix_space", add_prefix_space}, {"trim_offsets", true}, {"use_regex", use_regex}};
}

// The words, with their bytes as they were; "begin-end" before each.
Words places_of(const Json& part, std::string_view text) {
  const auto read = read_byte_level(*JsonView::object(json_of(part), "pre_tokenizer"));
  EXPECT_TRUE(read.ok()) << read.status().to_string();
  Words words;
  testing::WordFunction sink([&](const Word& word) {
    std::string bytes;
    for (const char* p = word.text.data(); p != word.text.data() + word.text.size();)
      bytes.push_back(static_cast<char>(byte_of_char(core::decode_utf8(p))));
    EXPECT_NE(word.places, nullptr);
    EXPECT_LT(word.begin, word.end);
    words.push_back(std::to_string(word.begin) + "-" + std::to_string(word.end) + bytes);
    return true;
  });
  EXPECT_TRUE((*read)->split(text, sink));
  return words;
}

// Byte-level words are compared without their places.
Words byte_words_of(std::string_view text) {
  Words words = places_of(byte_level(false), text);
  for (std::string& word : words) {
    word.erase(0, word.find('-') + 1);
    word.erase(0, word.find_first_not_of("0123456789"));
  }
  return words;
}

TEST(ByteLevelNormalizerTest, WritesEveryByteAsACharacter) {
  const Json part = {{"type", "ByteLevel"}};
  const auto read = read_byte_level_normalizer(*JsonView::object(json_of(part), "normalizer"));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ((*read)->normalize("a é\n"), "aĠÃ©Ċ");
  EXPECT_EQ((*read)->normalize(""), "");
  // What stood for the first character are the characters of its bytes.
  std::size_t origin = 2;
  EXPECT_EQ((*read)->normalize("éa", origin), "Ã©a");
  EXPECT_EQ(origin, 4U);
  const Json unknown = {{"type", "ByteLevel"}, {"use_regex", true}};
  EXPECT_EQ(read_byte_level_normalizer(*JsonView::object(json_of(unknown), "normalizer")).status().code(),
            StatusCode::kUnsupported);
}

TEST(ByteLevelTest, SplitsBeforeTheSpaceOfAWord) {
  EXPECT_EQ(byte_words_of("Hey friend"), (Words{"Hey", " friend"}));
  EXPECT_EQ(byte_words_of("a  b"), (Words{"a", " ", " b"}));
  EXPECT_EQ(byte_words_of("a\n b\n\nc"), (Words{"a", "\n", " b", "\n", "\n", "c"}));
  EXPECT_EQ(byte_words_of("a \tb "), (Words{"a", " ", "\t", "b", " "}));
  EXPECT_EQ(byte_words_of("a\u3000\u3000中 \u00a0"), (Words{"a", "\u3000", "\u3000", "中", " \u00a0"}));
  EXPECT_EQ(byte_words_of(""), Words{});
}

TEST(ByteLevelTest, KeepsLettersNumbersAndTheRestApart) {
  EXPECT_EQ(byte_words_of("ab x½?! ..é\u0301"), (Words{"ab", " x", "½", "?!", " ..", "é", "\u0301"}));
}

TEST(ByteLevelTest, KnowsEnglishShortForms) {
  EXPECT_EQ(byte_words_of("I'm we'll he'd"), (Words{"I", "'m", " we", "'ll", " he", "'d"}));
  EXPECT_EQ(byte_words_of("'sx 've're't"), (Words{"'s", "x", " '", "ve", "'re", "'t"}));
  EXPECT_EQ(byte_words_of("I'M l'l '"), (Words{"I", "'", "M", " l", "'", "l", " '"}));
  EXPECT_EQ(byte_words_of("!'s"), (Words{"!'", "s"}));
}

TEST(ByteLevelTest, SaysWhereWordsStand) {
  EXPECT_EQ(places_of(byte_level(false), "a é"), (Words{"0-1a", "1-4 é"}));
  EXPECT_EQ(places_of(byte_level(true), "a é"), (Words{"0-1 a", "1-4 é"}));
  EXPECT_EQ(places_of(byte_level(true), " a"), (Words{"0-2 a"}));
  EXPECT_EQ(places_of(byte_level(true), "\u3000a"), (Words{"0-3 ", "0-3\u3000", "3-4a"}));
  EXPECT_EQ(places_of(byte_level(true, false), "a é b"), (Words{"0-6 a é b"}));
}

TEST(ByteLevelTest, WritesEachByteAsACharacter) {
  const auto part = read_byte_level(*JsonView::object(json_of(byte_level(false, false)), "pre_tokenizer"));
  std::string written;
  testing::WordFunction sink([&](const Word& word) {
    written = word.text;
    return true;
  });
  EXPECT_TRUE((*part)->split(" \n\x7f~!é\u00ad", sink));
  EXPECT_EQ(written, "ĠĊġ~!Ã©ÂŃ");
}

Json byte_level_file(const Json& pre_tokenizer) {
  Json vocab;
  int id = 0;
  for (const ByteChar& c : kByteChars)
    vocab[std::string(c.utf8, c.size)] = id++;
  for (const char* word : {"Ġa", "<s>", "</s>", "中"})
    vocab[word] = id++;
  return {{"version", "1.0"},
          {"pre_tokenizer", pre_tokenizer},
          {"decoder", byte_level(true)},
          {"post_processor",
           {{"type", "RobertaProcessing"},
            {"sep", {"</s>", 258}},
            {"cls", {"<s>", 257}},
            {"trim_offsets", true},
            {"add_prefix_space", false}}},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", {"Ġ a"}}}}};
}

TEST(ByteLevelTest, IsTakenFromTheFile) {
  EXPECT_EQ(testing::ids_of(byte_level_file(byte_level(false)), "a a"), (Ids{257, 'a', 256, 258}));
  EXPECT_EQ(testing::ids_of(byte_level_file(byte_level(true)), "a a"), (Ids{257, 256, 256, 258}));
  Json early = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}};
  EXPECT_EQ(testing::ids_of(byte_level_file(early), "é"), (Ids{257, 0xC3, 0xA9, 258}));
}

TEST(ByteLevelTest, ItsObjectsAreReadOrRefused) {
  const auto refused = [](const char* pointer, const Json& value, StatusCode code, const std::string& part) {
    Json file = byte_level_file(byte_level(false));
    file[Json::json_pointer(pointer)] = value;
    const auto tokenizer = testing::open(file);
    ASSERT_FALSE(tokenizer.ok()) << part;
    EXPECT_EQ(tokenizer.status().code(), code);
    EXPECT_THAT(tokenizer.status().to_string(), HasSubstr(part));
  };
  const auto wrong = StatusCode::kInvalidModel;
  refused("/pre_tokenizer/add_prefix_space", 1, wrong, "pre_tokenizer.add_prefix_space is not true or false");
  refused("/pre_tokenizer/use_regex", nullptr, wrong, "pre_tokenizer.use_regex is not true or false");
  refused("/pre_tokenizer/trim_offsets", 1, wrong, "pre_tokenizer.trim_offsets is not true or false");
  refused("/pre_tokenizer/x", 1, StatusCode::kUnsupported, "pre_tokenizer has the key 'x'");
  refused("/post_processor/trim_offsets", 1, wrong, "post_processor.trim_offsets is not true or false");
  refused("/post_processor/sep", {"</s>", 999}, wrong, "post_processor.sep[1] is not the id of a token");
  refused("/post_processor/x", 1, StatusCode::kUnsupported, "post_processor has the key 'x'");
  refused("/post_processor", {{"type", "ByteLevel"}}, wrong, "post_processor has no 'add_prefix_space'");
}

TEST(ByteLevelTest, PostProcessorsCanFollowEachOther) {
  Json file = byte_level_file(byte_level(false));
  const Json roberta = file["post_processor"];
  file["post_processor"] = {{"type", "Sequence"}, {"processors", {byte_level(true), roberta, byte_level(false)}}};
  EXPECT_EQ(testing::ids_of(file, "a"), (Ids{257, 'a', 258}));
  file["post_processor"]["processors"] = {byte_level(true)};
  EXPECT_EQ(testing::ids_of(file, "a"), (Ids{'a'}));
  file["post_processor"]["processors"] = {roberta, roberta};
  EXPECT_THAT(testing::open(file).status().to_string(),
              HasSubstr("post_processor.processors[1] adds tokens, as one before it does"));
  file["post_processor"]["processors"] = {{{"type", "Other"}}};
  EXPECT_THAT(testing::open(file).status().to_string(),
              HasSubstr("post_processor.processors[0] of type 'Other' is not supported"));
}

TEST(ByteLevelTest, DecodesBytes) {
  const auto tokenizer = testing::open(byte_level_file(byte_level(false)));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  const auto decoded = [&](const Ids& ids) { return *tokenizer->decode(ids, false); };
  EXPECT_EQ(decoded({257, 256, ' ', 0xC3, 0xA9, 258}), "<s> a é</s>");
  EXPECT_EQ(decoded({259, 'b'}), "中b");  // stands for no byte
  EXPECT_EQ(decoded({0xC3}), "\uFFFD");
  EXPECT_EQ(decoded({0xE4, 0xB8, 'x', 0xE4, 0xB8}), "\uFFFDx\uFFFD");
  EXPECT_EQ(decoded({0xF0, 0x9F, 0x98}), "\uFFFD");
  EXPECT_EQ(decoded({0xF4, 0x90, 0x80}), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(decoded({0xED, 0xA0, 0xC0, 0xAF}), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(decoded({}), "");
}

}  // namespace
}  // namespace latebind::embedding
