// Reading and writing ZIPs: what goes in comes out, in place, and what is wrong is refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/bundle/crc32.h"
#include "core/bundle/zip_reader.h"
#include "core/bundle/zip_writer.h"
#include "core/platform/files/temporary_folder.h"
#include "tests/bundle/support.h"

namespace latebind::core {
namespace {

using testing::bytes_of;
using testing::HandEntry;
using testing::HandZip;
using ::testing::HasSubstr;
using testing::names_in;
using testing::read_file;
using testing::text_of;
using testing::u16;
using testing::u32;
using testing::u64;

Result<ZipReader> open(const std::string& bytes) {
  return ZipReader::open(bytes_of(bytes), "some.zip");
}

std::string error_of(const HandZip& zip) {
  const auto reader = open(zip.bytes());
  if (reader.ok()) return "it was read";
  EXPECT_EQ(reader.status().code(), StatusCode::kInvalidModel);
  EXPECT_EQ(reader.status().to_string().find('\n'), std::string::npos);
  return reader.status().to_string();
}

std::string error_of(HandEntry entry) {
  return error_of(HandZip{.entries = {std::move(entry)}});
}

class ZipFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = platform::TemporaryFolder::create("latebind-zip-test");
    ASSERT_TRUE(folder.ok()) << folder.status().to_string();
    folder_.emplace(*std::move(folder));
  }
  std::string written(std::vector<ZipInput> entries, const ZipWriteOptions& options = {}) {
    const auto file = folder_->path() / "out.zip";
    const Status status = write_zip(file, entries, options);
    EXPECT_TRUE(status.ok()) << status.to_string();
    return read_file(file);
  }
  std::optional<platform::TemporaryFolder> folder_;
};

TEST(Crc32Test, IsTheOneOfZip) {
  const std::string text = "123456789";
  EXPECT_EQ(crc32(std::as_bytes(std::span(text))), 0xCBF43926U);
  EXPECT_EQ(crc32({}), 0U);
}

TEST(Crc32Test, GoesOnWhereItStopped) {
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += static_cast<char>(i * 37);
  const auto bytes = std::as_bytes(std::span(text));
  for (std::size_t cut = 0; cut <= text.size(); ++cut)
    EXPECT_EQ(crc32(bytes.subspan(cut), crc32(bytes.first(cut))), crc32(bytes)) << cut;
}

TEST_F(ZipFileTest, WhatIsWrittenIsRead) {
  const std::string zip = written({{"manifest.json", {bytes_of("{}")}},
                                   {"empty/", {}},
                                   {"b/ü.bin", {bytes_of("two "), bytes_of(""), bytes_of("parts")}},
                                   {"nothing", {}}});
  const auto reader = open(zip);
  ASSERT_TRUE(reader.ok()) << reader.status().to_string();
  ASSERT_EQ(reader->entries().size(), 3U);
  const ZipEntry* entry = reader->find("b/ü.bin");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(text_of(reader->bytes_of(*entry)), "two parts");
  EXPECT_TRUE(reader->check(*entry).ok());
  EXPECT_EQ(reader->find("nothing")->size, 0U);
  EXPECT_EQ(reader->find("b"), nullptr);
  EXPECT_TRUE(reader->has_folder("b") && reader->has_folder("empty") && reader->has_folder(""));
  EXPECT_FALSE(reader->has_folder("nothing") || reader->has_folder("manifest") || reader->has_folder("c"));
}

TEST_F(ZipFileTest, EveryEntryBeginsOnAPage) {
  std::vector<ZipInput> entries;
  // Every distance to the next page, also those that are too short for a field.
  for (std::size_t size = 4000; size < 4100; ++size)
    entries.push_back({"entry" + std::to_string(size), {bytes_of(std::string(size, 'x'))}});
  const auto reader = open(written(entries));
  ASSERT_TRUE(reader.ok()) << reader.status().to_string();
  ASSERT_EQ(reader->entries().size(), entries.size());
  for (const ZipEntry& entry : reader->entries())
    EXPECT_EQ(entry.offset % 4096, 0U) << entry.name;
}

TEST_F(ZipFileTest, TheSameInputGivesTheSameBytes) {
  const std::vector<ZipInput> entries{{"a", {bytes_of("1")}}, {"b/c", {bytes_of("2")}}};
  EXPECT_EQ(written(entries), written(entries));
}

TEST_F(ZipFileTest, Zip64IsWrittenAndRead) {
  const std::string zip = written({{"a", {bytes_of("one")}}, {"b", {bytes_of("two")}}}, {.always_zip64 = true});
  const auto reader = open(zip);
  ASSERT_TRUE(reader.ok()) << reader.status().to_string();
  EXPECT_EQ(text_of(reader->bytes_of(*reader->find("b"))), "two");
  EXPECT_EQ(reader->find("b")->offset % 4096, 0U);
}

TEST_F(ZipFileTest, NamesThatNoReaderTakesAreNotWritten) {
  const auto place = folder_->path() / "place";
  std::filesystem::create_directory(place);
  for (const char* name : {"", "/a", "../a", "a/../b", "a\\b", "a//b", "con", "a:b", "a."}) {
    const Status status = write_zip(place / "out.zip", std::vector<ZipInput>{{name, {}}});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << name;
  }
  const std::vector<ZipInput> twice{{"a", {}}, {"A", {}}};
  EXPECT_EQ(write_zip(place / "out.zip", twice).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(names_in(place).empty());
}

TEST(ZipReaderTest, ReadsWhatOtherToolsStore) {
  // A field of the time, as Info-ZIP writes it, longer in the local header; a folder; a name in UTF-8.
  const std::string time = u16(0x5455) + u16(5) + std::string("\3abcd");
  const HandZip zip{.entries = {{.name = "f/", .data = "", .attributes = (040755U << 16U) | 0x10U},
                                {.name = "f/a", .local_extra = time + u16(0x7875) + u16(0), .central_extra = time},
                                {.name = "ü", .flags = 0x800, .attributes = 0}}};
  const auto reader = open(zip.bytes());
  ASSERT_TRUE(reader.ok()) << reader.status().to_string();
  EXPECT_EQ(reader->entries().size(), 2U);
  EXPECT_EQ(text_of(reader->bytes_of(*reader->find("f/a"))), "data of a");
  EXPECT_TRUE(open(HandZip{}.bytes()).ok()) << "an empty one";
}

TEST(ZipReaderTest, FindsDamagedData) {
  const auto reader = open(HandZip{.entries = {{.crc = 1}}}.bytes());
  ASSERT_TRUE(reader.ok());
  EXPECT_THAT(reader->check(*reader->find("a")).to_string(), HasSubstr("CRC-32"));
}

TEST(ZipReaderTest, RefusesWhatIsNotStoredPlainly) {
  EXPECT_THAT(error_of(HandEntry{.method = 8}), HasSubstr("'a' is compressed (method 8)"));
  EXPECT_THAT(error_of(HandEntry{.flags = 1}), HasSubstr("encrypted"));
  EXPECT_THAT(error_of(HandEntry{.flags = 8}), HasSubstr("after its data"));
  EXPECT_THAT(error_of(HandEntry{.flags = 0x2000}), HasSubstr("flags 0x2000"));
  EXPECT_THAT(error_of(HandEntry{.stored_size = 5}), HasSubstr("its two sizes differ"));
  EXPECT_THAT(error_of(HandEntry{.attributes = 0120777U << 16U}), HasSubstr("a link"));
  EXPECT_THAT(error_of(HandEntry{.attributes = 0060644U << 16U}), HasSubstr("special file"));
  EXPECT_THAT(error_of(HandEntry{.attributes = 0x10}), HasSubstr("special file"));
  EXPECT_THAT(error_of(HandEntry{.attributes = 0x08}), HasSubstr("special file"));
  EXPECT_THAT(error_of(HandEntry{.name = "a/", .attributes = 0}), HasSubstr("a folder with data"));
}

TEST(ZipReaderTest, RefusesNamesThatLeadElsewhere) {
  for (const std::string name : {"",        "/",      "/a",   "//a",  "..",     "a/..", "../a",     "a/../b",
                                 ".",       "a/./b",  "a//b", "a\\b", "c:a",    "c:/a", "a\nb",     "nul",
                                 "Aux.txt", "b/COM1", "a.",   "a ",   "a/b /c", "\xff", "\xc0\xaf", "\xed\xa0\x80"}) {
    EXPECT_THAT(error_of(HandEntry{.name = name, .flags = 0x800}), HasSubstr("the path '")) << name;
  }
  EXPECT_THAT(error_of(HandEntry{.name = std::string("a\0b", 3)}), HasSubstr("control character"));
  EXPECT_THAT(error_of(HandEntry{.name = std::string(600, 'a')}), HasSubstr("600 bytes"));
  std::string deep = "a";
  for (int i = 0; i < 100; ++i)
    deep += "/a";
  EXPECT_THAT(error_of(HandEntry{.name = deep}), HasSubstr("parts"));
  EXPECT_THAT(error_of(HandEntry{.name = "ü"}), HasSubstr("not marked as UTF-8"));
  const std::string second_name = u16(0x7075) + u16(6) + "\1" + u32(0) + "b";
  EXPECT_THAT(error_of(HandEntry{.central_extra = second_name}), HasSubstr("a second name"));
}

TEST(ZipReaderTest, RefusesNamesThatAreThereTwice) {
  EXPECT_THAT(error_of(HandZip{.entries = {{.name = "a"}, {.name = "a"}}}), HasSubstr("twice"));
  EXPECT_THAT(error_of(HandZip{.entries = {{.name = "a/B"}, {.name = "a/b"}}}), HasSubstr("twice"));
  EXPECT_THAT(error_of(HandZip{.entries = {{.name = "a"}, {.name = "a/b"}}}), HasSubstr("a file and a folder"));
  EXPECT_THAT(error_of(HandZip{.entries = {{.name = "a"}, {.name = "b"}, {.name = "A/", .data = "", .attributes = 0}}}),
              HasSubstr("a file and a folder"));
}

TEST(ZipReaderTest, RefusesHeadersThatDisagree) {
  EXPECT_THAT(error_of(HandEntry{.local_name = "b"}), HasSubstr("its own header"));
  EXPECT_THAT(error_of(HandEntry{.local_name = "ab"}), HasSubstr("'a' "));
  EXPECT_THAT(error_of(HandEntry{.local_size = 8}), HasSubstr("its own header"));
  EXPECT_THAT(error_of(HandEntry{.size = 1'000'000}), HasSubstr("cut off"));
  EXPECT_THAT(error_of(HandEntry{.offset = 1}), HasSubstr("does not begin where"));
  EXPECT_THAT(error_of(HandEntry{.offset = 0xFFFFFFFE}), HasSubstr("after the end of the last"));
}

TEST(ZipReaderTest, RefusesOverlapsAndGaps) {
  // Both entries are the same bytes: the trick of overlapping bombs.
  EXPECT_THAT(error_of(HandZip{.entries = {{.name = "a"}, {.name = "a", .offset = 0}}}), HasSubstr("overlaps"));
  // An entry whose data is the header of the next one.
  HandEntry outer{.name = "a", .data = "", .size = 40};
  EXPECT_THAT(error_of(HandZip{.entries = {outer, {.name = "b"}}}), HasSubstr("overlaps"));
  EXPECT_THAT(error_of(HandEntry{.gap = "?"}), HasSubstr("1 bytes at 0 belong to no entry"));
  EXPECT_THAT(error_of(HandZip{.entries = {{.name = "a"}, {.name = "b", .gap = "hidden"}}}), HasSubstr("6 bytes at"));
  EXPECT_THAT(error_of(HandZip{.entries = {{}}, .before_directory = "hidden"}), HasSubstr("6 bytes at"));
}

TEST(ZipReaderTest, RefusesEndsThatLie) {
  EXPECT_THAT(error_of(HandZip{.entries = {{}}, .comment = "hello"}), HasSubstr("comment"));
  EXPECT_THAT(error_of(HandZip{.entries = {{}}, .after = "x"}), HasSubstr("after its end"));
  EXPECT_THAT(error_of(HandZip{.entries = {{}}, .entry_count = 2}), HasSubstr("cut off"));
  EXPECT_THAT(error_of(HandZip{.entries = {{}, {.name = "b"}}, .entry_count = 1}), HasSubstr("more than its entries"));
  EXPECT_THAT(error_of(HandZip{.entries = {{}}, .entry_count = 65000}), HasSubstr("65000 entries"));
  EXPECT_THAT(error_of(HandZip{.entries = {{}}, .directory_size = 1}),
              HasSubstr("not at the place that its end names"));
  EXPECT_THAT(error_of(HandZip{.entries = {{}}, .directory_offset = 0xFFFFFFF0}), HasSubstr("not at the place"));
  EXPECT_THAT(error_of(HandZip{.entries = {{}}, .entry_count = 0xFFFF}), HasSubstr("Zip64 end is missing"));
  EXPECT_THAT(error_of(HandZip{.entries = {{}}, .directory_size = 0xFFFFFFFF}), HasSubstr("Zip64 end is missing"));
  EXPECT_THAT(open("").status().to_string(), HasSubstr("cut off"));
  EXPECT_THAT(open("PK").status().to_string(), HasSubstr("cut off"));
}

// The two records of Zip64 for an archive with one entry of HandEntry's defaults, with lies where they are asked for.
struct Zip64Lies {
  std::uint64_t record_size = 44;
  std::uint64_t entries = 1;
  std::uint64_t size = 47;    // of the directory
  std::uint64_t offset = 40;  // of the directory
  std::uint64_t record = 87;
  std::uint32_t disk = 0;
  std::uint32_t disks = 1;

  [[nodiscard]] HandZip zip() const {
    const std::string records = u32(0x06064B50) + u64(record_size) + u16(0x032D) + u16(45) + u32(disk) + u32(0) +
                                u64(entries) + u64(entries) + u64(size) + u64(offset) + u32(0x07064B50) + u32(0) +
                                u64(record) + u32(disks);
    return {.entries = {{}},
            .zip64 = records,
            .entry_count = 0xFFFF,
            .directory_size = 0xFFFFFFFF,
            .directory_offset = 0xFFFFFFFF};
  }
};

TEST(ZipReaderTest, RefusesZip64Lies) {
  const auto good = open(Zip64Lies{}.zip().bytes());
  ASSERT_TRUE(good.ok()) << good.status().to_string();
  EXPECT_THAT(error_of(Zip64Lies{.record_size = 45}.zip()), HasSubstr("Zip64 end"));
  EXPECT_THAT(error_of(Zip64Lies{.entries = 2}.zip()), HasSubstr("cut off"));
  EXPECT_THAT(error_of(Zip64Lies{.entries = ~std::uint64_t{0}}.zip()), HasSubstr("above the limits"));
  EXPECT_THAT(error_of(Zip64Lies{.size = 48}.zip()), HasSubstr("not at the place"));
  EXPECT_THAT(error_of(Zip64Lies{.offset = ~std::uint64_t{0}}.zip()), HasSubstr("not at the place"));
  EXPECT_THAT(error_of(Zip64Lies{.record = ~std::uint64_t{0}}.zip()), HasSubstr("Zip64 end"));
  EXPECT_THAT(error_of(Zip64Lies{.disk = 1}.zip()), HasSubstr("split"));
  EXPECT_THAT(error_of(Zip64Lies{.disks = 2}.zip()), HasSubstr("split"));
  HandZip two_ends = Zip64Lies{}.zip();
  two_ends.entry_count = 2;
  EXPECT_THAT(error_of(two_ends), HasSubstr("two ends"));
}

TEST(ZipReaderTest, RefusesZip64SizesThatLie) {
  const auto field = [](std::uint64_t size) { return u16(1) + u16(16) + u64(size) + u64(size); };
  EXPECT_EQ(error_of(HandEntry{.size = 0xFFFFFFFF, .local_extra = field(9), .central_extra = field(9)}), "it was read");
  EXPECT_THAT(error_of(HandEntry{.size = 0xFFFFFFFF}), HasSubstr("lacks its Zip64 sizes"));
  EXPECT_THAT(error_of(HandEntry{.size = 0xFFFFFFFF, .central_extra = field(9)}), HasSubstr("lacks its Zip64"));
  EXPECT_THAT(error_of(HandEntry{.size = 0xFFFFFFFF, .local_extra = field(8), .central_extra = field(9)}),
              HasSubstr("its own header"));
  const std::uint64_t huge = ~std::uint64_t{0};
  EXPECT_THAT(error_of(HandEntry{.size = 0xFFFFFFFF, .local_extra = field(huge), .central_extra = field(huge)}),
              HasSubstr("cut off"));
  EXPECT_THAT(error_of(HandEntry{.size = 0xFFFFFFFF, .central_extra = field(9) + field(9)}), HasSubstr("twice"));
  const std::string offset = u16(1) + u16(8) + u64(huge);
  EXPECT_THAT(error_of(HandEntry{.offset = 0xFFFFFFFF, .central_extra = offset}),
              HasSubstr("after the end of the last"));
}

}  // namespace
}  // namespace latebind::core
