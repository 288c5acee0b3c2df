#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "core/platform/files/file_identity.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/output_file.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using core::StatusCode;
using testing::ScratchFolder;

std::string text_of(const MappedFile& file) {
  const auto bytes = file.bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

core::Result<MappedFile> with_tail(const MappedFile& file, std::size_t from, std::size_t size,
                                   const std::string& tail) {
  return MappedFile::with_tail({file.file(), from, size}, file.identity(), file.bytes().subspan(from, size),
                               std::as_bytes(std::span(tail)));
}

StatusCode refusal_of(const std::filesystem::path& file) {
  return MappedFile::open(file).status().code();
}

TEST(MappedFileTest, ShowsTheBytesOfAFile) {
  const ScratchFolder folder;
  const std::string text = std::string("first\0second", 12) + std::string(100'000, 'x');
  testing::write_file(folder / "file", text);
  const auto file = MappedFile::open(folder / "file");
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  EXPECT_EQ(text_of(*file), text);
  EXPECT_EQ(file->file(), folder / "file");
}

TEST(MappedFileTest, KnowsWhichFileItMaps) {
  const ScratchFolder folder;
  testing::write_file(folder / "file", "first");
  const auto before = file_identity(folder / "file");
  const auto file = MappedFile::open(folder / "file");
  ASSERT_TRUE(before.ok() && file.ok());
  const auto tail = with_tail(*file, 0, 5, "");
  ASSERT_TRUE(tail.ok());
  EXPECT_EQ(file->identity(), *before);
  EXPECT_EQ(tail->identity(), *before);
  testing::write_file(folder / "other", "other");
  std::filesystem::rename(folder / "other", folder / "file");
  EXPECT_NE(file->identity(), *file_identity(folder / "file"));
}

TEST(FileIdentityTest, AFileThatIsWrittenInPlaceIsAnotherOneWhateverItsTimeSays) {
  const ScratchFolder folder;
  testing::write_file(folder / "file", "first");
  const auto before = *file_identity(folder / "file");
  const auto time = std::filesystem::last_write_time(folder / "file");
  do {  // the system's clock for files may stand for some milliseconds
    testing::write_file(folder / "file", "other");
  } while (*file_identity(folder / "file") == before);
  std::filesystem::last_write_time(folder / "file", time);
  const auto after = *file_identity(folder / "file");
  EXPECT_EQ(after.modified_ns, before.modified_ns);
  EXPECT_EQ(after.size, before.size);
  EXPECT_EQ(after.file, before.file);
  EXPECT_NE(after, before);
  // Nor does it look older than it is.
  std::filesystem::last_write_time(folder / "file", time - std::chrono::hours(1));
  EXPECT_LT(age_ns(*file_identity(folder / "file")), std::chrono::nanoseconds(std::chrono::minutes(10)).count());
}

TEST(MappedFileTest, MapsAnEmptyFile) {
  const ScratchFolder folder;
  testing::write_file(folder / "empty", "");
  auto file = MappedFile::open(folder / "empty");
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  EXPECT_TRUE(file->bytes().empty());
  const MappedFile moved = *std::move(file);
  EXPECT_TRUE(moved.bytes().empty());
}

TEST(MappedFileTest, RefusesWhatIsNoFile) {
  const ScratchFolder folder;
  EXPECT_EQ(refusal_of(folder / "missing"), StatusCode::kNotFound);
  EXPECT_EQ(refusal_of(folder.path()), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal_of("/dev/zero"), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal_of(""), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal_of(std::string("/etc/passwd\0x", 13)), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal_of(folder / std::string(300, 'n')), StatusCode::kInvalidArgument);
  testing::write_file(folder / "file", "x");
  EXPECT_EQ(refusal_of(folder / "file" / "below"), StatusCode::kNotFound);
  std::filesystem::create_symlink("loop", folder / "loop");
  EXPECT_EQ(refusal_of(folder / "loop"), StatusCode::kIo);
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0666), 0);
  EXPECT_EQ(refusal_of(folder / "pipe"), StatusCode::kInvalidArgument) << "and it did not wait for a writer";
}

TEST(MappedFileTest, NamesTheFileThatItRefuses) {
  const ScratchFolder folder;
  const auto message = [&](const std::string& name) { return MappedFile::open(folder / name).status().to_string(); };
  EXPECT_EQ(message("missing"), "cannot read '" + (folder / "missing").string() + "': No such file or directory");
  EXPECT_EQ(MappedFile::open(folder.path()).status().to_string(),
            "cannot read '" + folder.path().string() + "': it is a folder, not a file");
}

TEST(MappedFileTest, RefusesAFileThatMayNotBeRead) {
  const ScratchFolder folder;
  testing::write_file(folder / "secret", "x");
  ::chmod((folder / "secret").c_str(), 0000);
  EXPECT_EQ(testing::as_nobody([&] { return std::string(core::name_of(refusal_of(folder / "secret"))); }),
            "PERMISSION_DENIED");
}

TEST(MappedFileTest, StaysValidWhenTheFileIsRemovedOrReplaced) {
  const ScratchFolder folder;
  const std::string old_text(50'000, 'o');
  testing::write_file(folder / "file", old_text);
  const auto file = MappedFile::open(folder / "file");
  ASSERT_TRUE(file.ok());
  auto output = OutputFile::create(folder / "file");
  ASSERT_TRUE(output.ok() && output->write("new").ok() && output->commit().ok());
  EXPECT_EQ(text_of(*file), old_text);
  std::filesystem::remove(folder / "file");
  EXPECT_EQ(text_of(*file), old_text);
}

TEST(MappedFileTest, MovesItsMapping) {
  const ScratchFolder folder;
  testing::write_file(folder / "one", "one");
  testing::write_file(folder / "two", "two");
  auto one = MappedFile::open(folder / "one");
  auto two = MappedFile::open(folder / "two");
  ASSERT_TRUE(one.ok() && two.ok());
  const auto* const data = one->bytes().data();
  *two = *std::move(one);
  EXPECT_EQ(text_of(*two), "one");
  EXPECT_EQ(two->bytes().data(), data);
  EXPECT_EQ(two->file(), folder / "one");
  EXPECT_TRUE(one->bytes().empty());  // NOLINT(bugprone-use-after-move): that is the test
}

TEST(MappedFileTest, KeepsNoDescriptorOpen) {
  const ScratchFolder folder;
  testing::write_file(folder / "file", "x");
  const auto count = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto before = count();
  const auto file = MappedFile::open(folder / "file");
  const auto refused = MappedFile::open(folder.path());
  EXPECT_EQ(count(), before);
}

TEST(MappedFileTest, JoinsAFileAndATailInOneRange) {
  constexpr std::size_t kGranularity = std::size_t{64} << 10;
  const ScratchFolder folder;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, kGranularity - 1, kGranularity, kGranularity + 1, 3 * kGranularity + 5000}) {
    for (const std::string tail : {"", "the tail"}) {
      const std::string text(size, 'f');
      testing::write_file(folder / "file", text);
      auto opened = with_tail(*MappedFile::open(folder / "file"), 0, size, tail);
      ASSERT_TRUE(opened.ok()) << opened.status().to_string();
      const std::size_t offset = MappedFile::tail_offset(size);
      EXPECT_EQ(offset % kGranularity, 0U);
      const std::string expected = text + std::string(offset - size, '\0') + tail;
      EXPECT_TRUE(text_of(*opened) == expected) << size << " bytes";
      const MappedFile moved = *std::move(opened);
      std::filesystem::remove(folder / "file");
      EXPECT_TRUE(text_of(moved) == expected) << "after a move and without the file";
    }
  }
}

TEST(MappedFileTest, JoinsAPartOfAFileAndATail) {
  const ScratchFolder folder;
  std::string text;
  for (int i = 0; i < 40'000; ++i)
    text += static_cast<char>('a' + i % 23);
  testing::write_file(folder / "file", text);
  const auto mapped = MappedFile::open(folder / "file");
  ASSERT_TRUE(mapped.ok());
  const std::string tail = "the tail";
  // At the beginning of a page, and not.
  for (const std::size_t from :
       {std::size_t{0}, std::size_t{4096}, std::size_t{8192}, std::size_t{1}, std::size_t{5000}}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{10'000}, text.size() - from}) {
      const auto opened = with_tail(*mapped, from, size, tail);
      ASSERT_TRUE(opened.ok()) << opened.status().to_string();
      const std::string all = text_of(*opened);
      EXPECT_EQ(all.size(), MappedFile::tail_offset(size) + tail.size());
      EXPECT_TRUE(all.substr(0, size) == text.substr(from, size)) << size << " bytes from " << from;
      EXPECT_EQ(all.substr(MappedFile::tail_offset(size)), tail);
    }
  }
}

TEST(MappedFileTest, JoinsTheBytesThatWereMappedWhateverHasTheirNameNow) {
  const ScratchFolder folder;
  const auto joined = [&](const MappedFile& file) { return text_of(*with_tail(file, 0, 5, "tail")).substr(0, 5); };
  testing::write_file(folder / "file", "first");
  const auto file = MappedFile::open(folder / "file");
  ASSERT_TRUE(file.ok());
  testing::write_file(folder / "other", "other");
  std::filesystem::rename(folder / "other", folder / "file");
  EXPECT_EQ(joined(*file), "first") << "replaced";
  std::filesystem::remove(folder / "file");
  EXPECT_EQ(joined(*file), "first") << "removed";
  std::filesystem::create_directory(folder / "file");
  EXPECT_EQ(joined(*file), "first") << "a folder";
  const std::string text = "in memory";
  const auto memory = MappedFile::with_tail({}, {}, std::as_bytes(std::span(text)), {});
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(text_of(*memory).substr(0, text.size()), text);
}

}  // namespace
}  // namespace latebind::platform
