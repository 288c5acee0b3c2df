#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/platform/files/file_reader.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using ::testing::HasSubstr;

class FileReaderTest : public ::testing::Test {
 protected:
  FileReaderTest() { std::ofstream(file_) << "abcdefgh"; }

  static std::string read(const FileReader& reader, std::uint64_t offset) {
    std::array<std::byte, 3> bytes{};
    if (!reader.read(offset, bytes)) return "nothing";
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  testing::ScratchFolder folder_;
  std::filesystem::path file_ = folder_ / "file";
};

TEST_F(FileReaderTest, ReadsWhereItIsTold) {
  const auto reader = FileReader::open(file_, *file_identity(file_));
  ASSERT_TRUE(reader.ok()) << reader.status().to_string();
  EXPECT_EQ(read(**reader, 0), "abc");
  EXPECT_EQ(read(**reader, 5), "fgh");
  EXPECT_TRUE((*reader)->read(8, {}));
  EXPECT_TRUE((*reader)->why_not().ok());
  // Also when its name is another's.
  std::filesystem::rename(file_, folder_ / "elsewhere");
  EXPECT_EQ(read(**reader, 1), "bcd");
}

TEST_F(FileReaderTest, WhatIsMissingIsAnErrorFromThenOn) {
  const auto reader = FileReader::open(file_, *file_identity(file_));
  std::filesystem::resize_file(file_, 4);
  EXPECT_EQ(read(**reader, 1), "bcd");
  EXPECT_EQ(read(**reader, 2), "nothing");
  EXPECT_EQ(read(**reader, 1), "nothing");
  EXPECT_EQ((*reader)->why_not().code(), core::StatusCode::kIo);
  EXPECT_THAT((*reader)->why_not().to_string(), HasSubstr("file' was truncated while it was in use"));
}

TEST_F(FileReaderTest, OpensOneThatWasWrittenToOrCut) {
  const auto identity = file_identity(file_);
  std::filesystem::resize_file(file_, 4);
  const auto reader = FileReader::open(file_, *identity);
  ASSERT_TRUE(reader.ok()) << reader.status().to_string();
  EXPECT_EQ(read(**reader, 1), "bcd");
  EXPECT_EQ(read(**reader, 2), "nothing");
}

TEST_F(FileReaderTest, OpensTheFileThatIsMeantAlone) {
  const auto identity = file_identity(file_);
  std::ofstream(folder_ / "other") << "abcdefgh";
  std::filesystem::rename(folder_ / "other", file_);
  EXPECT_EQ(FileReader::open(file_, *identity).status().code(), core::StatusCode::kIo);
  std::filesystem::remove(file_);
  EXPECT_EQ(FileReader::open(file_, *identity).status().code(), core::StatusCode::kNotFound);
  EXPECT_EQ(FileReader::open(folder_.path(), *identity).status().code(), core::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace latebind::platform
