#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/data/json_field.h"
#include "cli/data/text_reader.h"

namespace latebind::cli {
namespace {

using core::StatusCode;
using ::testing::HasSubstr;
using namespace std::string_literals;

core::Result<std::string> string_field(std::string_view line, std::string_view field) {
  LB_ASSIGN_OR_RETURN(TextField found, text_field(line, field, {}));
  return std::move(found.text);
}

TEST(JsonFieldTest, TakesTheFieldAtTheTop) {
  const auto text =
      string_field(R"({"id": 1, "in": {"text": "no"}, "list": [{"text": 2}], "text": "a\u00e9\n"})", "text");
  ASSERT_TRUE(text.ok()) << text.status().to_string();
  EXPECT_EQ(*text, "a\xC3\xA9\n");
}

TEST(JsonFieldTest, TakesTheLastOfSeveral) {
  EXPECT_EQ(*string_field(R"({"text": 1, "text": "b"})", "text"), "b");
}

TEST(JsonFieldTest, SaysWhatIsWrong) {
  const auto message = [](const std::string& line) {
    const auto text = string_field(line, "text");
    return text.ok() ? "ok: " + *text : std::string(text.status().message());
  };
  EXPECT_EQ(message(R"({"a": 1, "in": {"x": 1}})"),
            "the object has no field 'text' among 'a', 'in'; --text-field names the field of the text");
  EXPECT_EQ(message("{}"), "the object has no field 'text'; --text-field names the field of the text");
  EXPECT_EQ(message(R"({"text": 1})"), "field 'text' is a number, not a string");
  EXPECT_EQ(message(R"({"text": null})"), "field 'text' is null, not a string");
  EXPECT_EQ(message(R"({"text": ["a"]})"), "field 'text' is an array, not a string");
  EXPECT_EQ(message(R"({"text": {"text": "a"}})"), "field 'text' is an object, not a string");
  EXPECT_EQ(message(R"(["text"])"), "expected a JSON object, not an array");
  EXPECT_EQ(message(R"("text")"), "expected a JSON object, not a string");
  EXPECT_TRUE(message("").starts_with("not JSON: it is empty")) << message("");
  EXPECT_TRUE(message(R"({"text": "a"} x)").starts_with("not JSON: it has text after its end at byte 14"));
  EXPECT_TRUE(message(R"({"text": "\ud800"})").starts_with("not JSON: 'text' has a lone surrogate at byte 10"));
}

TEST(JsonFieldTest, GivesAnIdAsItStandsThere) {
  const auto id = [](const std::string& line) { return text_field(line, "text", "id")->id; };
  EXPECT_EQ(id(R"({"id": "a\u00e9\"", "text": "b"})"), "\"a\xC3\xA9\\\"\"");
  EXPECT_EQ(id(R"({"text": "b", "id": -7})"), "-7");
  EXPECT_EQ(id(R"({"text": "b", "id": 18446744073709551615})"), "18446744073709551615");
  EXPECT_EQ(id(R"({"text": "b", "id": 1.50})"), "1.50");
  for (const char* const other : {"null", "true", "[1]", "{\"id\": 1}"})
    EXPECT_EQ(id(std::string(R"({"text": "b", "id": )") + other + "}"), "") << other;
  EXPECT_EQ(id(R"({"in": {"id": 1}, "text": "b"})"), "");
  EXPECT_EQ(text_field(R"({"id": 1, "text": "b"})", "text", "")->id, "");
  const auto same = text_field(R"({"id": 1, "text": "b"})", "text", "text");
  EXPECT_EQ(same->text, "b");
  EXPECT_EQ(same->id, "\"b\"");
}

TEST(JsonFieldTest, AZeroByteIsNoEnd) {
  EXPECT_TRUE(string_field("{\"text\":\"a\"}\0{\"text\":\"b\"}"s, "text")
                  .status()
                  .message()
                  .starts_with("not JSON: it has a zero byte at byte 12"));
}

TEST(JsonFieldTest, NumbersOfOtherFieldsMayBeOfAnySize) {
  for (const std::string& number :
       {"1e999"s, "-1E+999"s, "0.5e999"s, std::string(400, '9'), "[1e999, {\"x\": -1e999}]"s})
    EXPECT_EQ(*string_field("{\"n\": " + number + ", \"text\": \"1e999 \\\" 7\"}", "text"), "1e999 \" 7") << number;
  EXPECT_EQ(string_field(R"({"text": 1e999})", "text").status().message(), "field 'text' is a number, not a string");
  EXPECT_EQ(string_field("1e999", "text").status().message(), "expected a JSON object, not a number");
  for (const std::string number : {"1e999.", "01e999", "1e999-", "1e999 2", "+1e999", "1e999, .5", "1e999e"})
    EXPECT_FALSE(string_field(R"({"text": "a", "n": )" + number + "}", "text").ok()) << number;
}

TEST(JsonFieldTest, DepthIsLimited) {
  const auto nested = [](std::size_t depth) {
    return string_field(R"({"x": )" + std::string(depth, '[') + std::string(depth, ']') + R"(, "text": "t"})", "text");
  };
  EXPECT_EQ(*nested(1000), "t");
  EXPECT_THAT(nested(1 << 20).status().message(), HasSubstr("too many levels at byte 1029: at most 1024"));
  EXPECT_FALSE(string_field(R"({"x": )" + std::string(1 << 20, '['), "text").ok());
}

class TextReaderTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("reader_"s + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& bytes) const {
    const auto file = folder_ / name;
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
  }

  // The texts until the end or an error, which is the last one then.
  static std::vector<std::string> all(TextSource source) {
    auto reader = TextReader::open(std::move(source));
    if (!reader.ok()) return {"error: " + reader.status().to_string()};
    std::vector<std::string> texts;
    TextRecord record;
    for (;;) {
      const auto more = reader->next(record);
      if (!more.ok()) {
        texts.push_back("error: " + more.status().to_string());
        return texts;
      }
      if (!*more) return texts;
      texts.push_back(record.text);
    }
  }

  std::filesystem::path folder_;
};

using Texts = std::vector<std::string>;

TEST_F(TextReaderTest, SplitsLinesHoweverTheyEnd) {
  EXPECT_EQ(all({.files = {write("a", "")}}), Texts{});
  EXPECT_EQ(all({.files = {write("b", "one\ntwo\n")}}), (Texts{"one", "two"}));
  EXPECT_EQ(all({.files = {write("c", "one\ntwo")}}), (Texts{"one", "two"}));
  EXPECT_EQ(all({.files = {write("d", "one\r\n\r\n\ntwo\r")}}), (Texts{"one", "", "", "two"}));
  EXPECT_EQ(all({.files = {write("e", "\xEF\xBB\xBFone\n\xEF\xBB\xBFtwo\n")}}), (Texts{"one", "\xEF\xBB\xBFtwo"}));
  EXPECT_EQ(all({.files = {write("f", "\n")}}), (Texts{""}));
}

TEST_F(TextReaderTest, ReadsFilesOneAfterTheOther) {
  const auto a = write("a", "one\ntwo");
  const auto b = write("b", "three\n");
  EXPECT_EQ(all({.files = {a, b, a}}), (Texts{"one", "two", "three", "one", "two"}));
  const auto reader = TextReader::open({.files = {a, b}});
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->total_bytes(), 13U);
}

TEST_F(TextReaderTest, CountsTheBytesItTakes) {
  auto reader = TextReader::open({.files = {write("a", "\xEF\xBB\xBFone\r\n\nlast")}});
  ASSERT_TRUE(reader.ok());
  TextRecord record;
  std::uint64_t bytes = 0;
  std::uint64_t line = 0;
  while (*reader->next(record)) {
    bytes += record.bytes;
    EXPECT_EQ(record.line, ++line);
  }
  EXPECT_EQ(line, 3U);
  EXPECT_EQ(bytes, reader->total_bytes());
}

TEST_F(TextReaderTest, KeepsLinesWholeAcrossBlocks) {
  const std::string big(200000, 'x');
  EXPECT_EQ(all({.files = {write("a", big + "\n" + big + "y\nz")}}), (Texts{big, big + "y", "z"}));
}

TEST_F(TextReaderTest, TakesALineUpToItsLimitAndRefusesALongerOne) {
  const std::string most(kRecordMax, 'x');
  const auto file = write("a", most + "\n" + most + "x\n");
  const auto texts = all({.files = {file}});
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0].size(), kRecordMax);
  EXPECT_EQ(texts[1], "error: " + file + ":2: the line is longer than 64 MiB; split it");
}

TEST_F(TextReaderTest, NamesThePlaceOfInvalidUtf8) {
  const auto file = write("a", "fine\nso far\xFF\n");
  EXPECT_EQ(all({.files = {file}}), (Texts{"fine", "error: " + file +
                                                       ":2: invalid UTF-8 at byte 7 of the line (0xFF); if it is "
                                                       "Latin-1, convert it with `iconv -f WINDOWS-1252 -t UTF-8`"}));
}

TEST_F(TextReaderTest, TellsOtherEncodingsFromWhatIsNoText) {
  const auto utf16 = write("a", std::string("\xFF\xFEh\0", 4));
  EXPECT_THAT(all({.files = {utf16}}).back(),
              HasSubstr("it begins like UTF-16: convert it with `iconv -f UTF-16 -t UTF-8`"));
  const auto image = write("b", std::string("\x89PNG\0", 5));
  EXPECT_THAT(all({.files = {image}}).back(), HasSubstr("it has zero bytes, so it is not text"));
}

TEST_F(TextReaderTest, NamesFileLineAndFieldOfJson) {
  const auto file = write("a", "{\"body\": \"one\"}\r\n{\"text\": \"two\"}\n");
  EXPECT_EQ(
      all({.files = {file}, .format = TextFormat::kJsonl, .field = "body"}),
      (Texts{"one", "error: " + file +
                        ":2: the object has no field 'body' among 'text'; --text-field names the field of the text"}));
}

TEST_F(TextReaderTest, ReadsTheRowsOfTables) {
  const auto file =
      write("a.csv", "\xEF\xBB\xBFid,\"text\",\r\n1,\"the \"\"cat\"\", and\r\nmore\",x\r\n\n2,,y\n3,a \"b\" c,\"\"");
  auto reader = TextReader::open({.files = {file}});
  ASSERT_TRUE(reader.ok());
  TextRecord record;
  const auto next = [&] {
    const auto more = reader->next(record);
    EXPECT_TRUE(more.ok()) << more.status().to_string();
    return more.ok() && *more;
  };
  ASSERT_TRUE(next());
  EXPECT_EQ(record.text, "the \"cat\", and\r\nmore");
  EXPECT_EQ(record.id, "\"1\"");
  EXPECT_EQ(record.line, 2U);
  EXPECT_EQ(record.last_line, 3U);
  const std::uint64_t end = record.end;
  std::uint64_t bytes = record.bytes;
  ASSERT_TRUE(next());
  EXPECT_EQ(record.text, "");
  EXPECT_EQ(record.line, 5U);
  bytes += record.bytes;
  ASSERT_TRUE(next());
  EXPECT_EQ(record.text, "a \"b\" c");
  EXPECT_EQ(bytes + record.bytes, std::filesystem::file_size(file));
  EXPECT_FALSE(next());
  // What follows the first text, by another reader.
  auto later = TextReader::open({.files = {file}});
  ASSERT_TRUE(later->skip_to(0, end, 3).ok());
  ASSERT_TRUE(*later->next(record));
  EXPECT_EQ(record.id, "\"2\"");
  EXPECT_EQ(record.line, 5U);
}

TEST_F(TextReaderTest, FindsTheSeparatorThatNamesTheColumnOfTexts) {
  EXPECT_EQ(all({.files = {write("a.csv", "id;text\n1;one, two\n2;\"a;b\"\n")}}), (Texts{"one, two", "a;b"}));
  EXPECT_EQ(all({.files = {write("b.csv", "id\ttext\n1\tone;two\n")}}), (Texts{"one;two"}));
  EXPECT_EQ(all({.files = {write("c.TSV", "id\ttext\n1\tone, two\n")}}), (Texts{"one, two"}));
  EXPECT_EQ(all({.files = {write("d.csv", "text\none\ntwo\n")}}), (Texts{"one", "two"}));
  EXPECT_EQ(all({.files = {write("e", "id;text\n1;one\n")}, .format = TextFormat::kCsv}), (Texts{"one"}));
  const auto other = write("f.csv", "id;body\n1;one\n");
  EXPECT_EQ(all({.files = {other}}), (Texts{"error: " + other +
                                            ":1: there is no column 'text' among 'id', 'body', which are separated by "
                                            "semicolons; --text-field names the column of texts"}));
  EXPECT_EQ(all({.files = {other}, .field = "body"}), (Texts{"one"}));
}

TEST_F(TextReaderTest, SaysWhatIsWrongWithATable) {
  const auto first_error = [&](const std::string& content) {
    const Texts texts = all({.files = {write("a.csv", content)}});
    return texts.empty() ? std::string() : texts.back();
  };
  EXPECT_THAT(first_error("id,text\n1,a\n2\n"),
              HasSubstr(":3: the row has 1 values, but the first row names 2 columns, separated by commas"));
  EXPECT_THAT(first_error("id,text\n1,\"a\n2,b\n"), HasSubstr(":2: a quote that begins in this row is not closed"));
  EXPECT_THAT(first_error("\nid,text\n"), HasSubstr(":1: the first line is empty; it names the columns"));
  EXPECT_THAT(first_error("text,text\na,b\n"), HasSubstr(":1: there are several columns 'text'"));
  // The line within a value of several.
  EXPECT_THAT(first_error("id,text\n1,\"a\nb\ncaf\xe9\"\n"),
              testing::AllOf(HasSubstr(":4: invalid UTF-8 at byte 4 of the line"),
                             HasSubstr("iconv -f WINDOWS-1252 -t UTF-8")));
  EXPECT_EQ(first_error(""), "");
}

TEST_F(TextReaderTest, ReadsFilesByTheirLinesIfTheyAreNotWhatTheirNamesSay) {
  const auto objects = write("a.jsonl", "{\"body\": 1}\n\n");
  const auto table = write("b.csv", "id,body\n1,a\n");
  const auto good = write("c.jsonl", "{\"text\": \"c\"}\n");
  auto reader = TextReader::open({.files = {objects, table, good}, .may_be_lines = {true, true, true}});
  ASSERT_TRUE(reader.ok());
  Texts texts;
  TextRecord record;
  while (*reader->next(record))
    texts.push_back(record.text);
  EXPECT_EQ(texts, (Texts{"{\"body\": 1}", "", "id,body", "1,a", "c"}));
  EXPECT_EQ(reader->files_by_lines(), 2U);
  EXPECT_THAT(all({.files = {objects}, .may_be_lines = {false}}).back(), HasSubstr("has no field 'text'"));
  // Only the first record shows it.
  const auto later = write("d.jsonl", "{\"text\": \"c\"}\n{}\n");
  EXPECT_THAT(all({.files = {later}, .may_be_lines = {true}}).back(), HasSubstr("d.jsonl:2: the object has no field"));
}

// What gzip makes of "one\n" and of "two\nthree\n", one after the other.
constexpr std::string_view kPacked(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\xcf\x4b\xe5\x02\x00\x9f\xa8\x17\xf8\x04\x00\x00\x00"
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x2b\x29\xcf\xe7\x2a\xc9\x28\x4a\x4d\xe5\x02\x00\xaa\x6a"
    "\xd5\x6b\x0a\x00\x00\x00",
    54);

TEST_F(TextReaderTest, UnpacksFilesOfGzip) {
  const auto packed = write("a.gz", std::string(kPacked));
  EXPECT_EQ(all({.files = {packed}}), (Texts{"one", "two", "three"}));
  EXPECT_EQ(TextReader::open({.files = {packed}})->total_bytes(), std::nullopt);
  auto later = TextReader::open({.files = {packed}});
  ASSERT_TRUE(later->skip_to(0, 8, 2).ok());
  TextRecord record;
  ASSERT_TRUE(*later->next(record));
  EXPECT_EQ(record.text, "three");
  EXPECT_EQ(record.line, 3U);
  EXPECT_FALSE(TextReader::open({.files = {packed}})->skip_to(0, 80, 2).ok());
  for (std::size_t size = 0; size < kPacked.size(); ++size) {
    const Texts texts = all({.files = {write("b.gz", std::string(kPacked.substr(0, size)))}});
    if (size == 24) {
      EXPECT_EQ(texts, (Texts{"one"}));  // a whole member
    } else {
      EXPECT_THAT(texts.back(), HasSubstr("cannot unpack")) << size;
    }
  }
  std::size_t unseen = 0;
  for (std::size_t at = 0; at < kPacked.size(); ++at) {
    std::string bytes(kPacked);
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    // The time, and how and where it was packed, do not matter.
    const std::size_t in_member = at < 24 ? at : at - 24;
    const Texts texts = all({.files = {write("c.gz", bytes)}});
    if (in_member >= 4 && in_member < 10) continue;
    if (texts == Texts{"one", "two", "three"}) {
      ++unseen;
    } else {
      EXPECT_THAT(texts.back(), HasSubstr("error: ")) << at;
    }
  }
  EXPECT_EQ(unseen, 2U);  // behind the last block of each member are bits without a meaning
}

TEST_F(TextReaderTest, RefusesMissingFilesAndFoldersBeforeReading) {
  const auto good = write("a", "one\n");
  const auto missing = TextReader::open({.files = {good, (folder_ / "nothing").string()}});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_NE(missing.status().message().find("nothing"), std::string_view::npos);
  EXPECT_FALSE(TextReader::open({.files = {good, folder_.string()}}).ok());
}

}  // namespace
}  // namespace latebind::cli
