// Files under Windows: long names, other scripts, what may not be written, who else has them open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/platform/digest.h"
#include "core/platform/files/file_identity.h"
#include "core/platform/files/file_lock.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/output_file.h"
#include "core/platform/files/output_folder.h"
#include "core/platform/files/partial_file.h"
#include "core/platform/os_error.h"
#include "tests/platform/windows_support.h"

namespace latebind::platform {
namespace {

using core::Status;
using core::StatusCode;
using testing::hard_folder;
using ::testing::HasSubstr;
using testing::read_file;
using testing::ScratchFolder;
using testing::write_file;
using Names = std::vector<std::string>;

Status write(const std::filesystem::path& file, const std::string& text) {
  LB_ASSIGN_OR_RETURN(OutputFile output, OutputFile::create(file));
  LB_RETURN_IF_ERROR(output.write(text));
  return output.commit();
}

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST(LongPathTest, LeavesShortAndSpecialPathsAlone) {
  for (const wchar_t* path : {LR"(C:\a\b)", L"C:/a/b", L"a/b", L"", LR"(\\.\pipe\x)", LR"(\\?\C:\a)", L"//./NUL"})
    EXPECT_EQ(long_path(path), path);
}

TEST(LongPathTest, MarksLongPathsAfterResolvingThem) {
  const std::wstring name(300, L'n');
  EXPECT_EQ(long_path(L"C:/a/./b/../" + name), LR"(\\?\C:\a\)" + name);
  EXPECT_EQ(long_path(LR"(\\server\share\)" + name), LR"(\\?\UNC\server\share\)" + name);
  EXPECT_EQ(plain_path(LR"(\\?\UNC\server\share\x)"), LR"(\\server\share\x)");
  EXPECT_EQ(plain_path(LR"(\\?\C:\x)"), LR"(C:\x)");
  EXPECT_EQ(plain_path(LR"(C:\x)"), LR"(C:\x)");
}

TEST(WindowsFilesTest, AreWrittenMappedAndReplacedInHardPlaces) {
  const ScratchFolder folder;
  const auto place = hard_folder(folder);
  ASSERT_GT(place.native().size(), 260U);
  const auto file = place / utf16_of("векторы 向量.npy");
  for (const std::string text : {"first", "the second"}) {
    const auto status = write(file, text);
    ASSERT_TRUE(status.ok()) << status.to_string();
    const auto mapped = MappedFile::open(file);
    ASSERT_TRUE(mapped.ok()) << mapped.status().to_string();
    EXPECT_EQ(text_of(*mapped), text);
    EXPECT_EQ(*sha256_hex_of_file(file), sha256_hex(mapped->bytes()));
    EXPECT_EQ(file_identity(file)->size, text.size());
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(place), {}), 1) << "no temporary file is left";
}

TEST(WindowsFilesTest, AreListedAndRemovedInHardPlaces) {
  const ScratchFolder folder;
  const auto place = hard_folder(folder);
  write_file(place / "one", "1");
  std::filesystem::create_directory(place / "two");
  Names names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
    names.push_back(path_to_utf8(entry.path().filename()));
  EXPECT_THAT(names, ::testing::IsSupersetOf({"one", "two"}));
  std::error_code error;
  std::filesystem::remove_all(folder.path(), error);
  EXPECT_FALSE(error) << error.message();
  EXPECT_FALSE(std::filesystem::exists(folder.path()));
  EXPECT_FALSE(std::filesystem::directory_iterator(place, error) != std::filesystem::directory_iterator());
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
}

TEST(WindowsFilesTest, FoldersAppearAndAreReplacedInHardPlaces) {
  const ScratchFolder folder;
  const auto place = hard_folder(folder);
  for (const std::string text : {"first", "second"}) {
    auto output = OutputFolder::create(place / "bundle");
    ASSERT_TRUE(output.ok()) << output.status().to_string();
    write_file(output->path() / "file", text);
    const auto status = output->commit([](const std::filesystem::path&) { return Status(); });
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(read_file(place / "bundle" / "file"), text);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(place), {}), 1);
}

TEST(WindowsFilesTest, PartialFilesGoOnInHardPlaces) {
  const ScratchFolder folder;
  const auto place = hard_folder(folder);
  for (const std::string text : {"one", "two"}) {
    auto file = PartialFile::open(place / "part");
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    ASSERT_TRUE(file->write(text).ok());
    if (text == "one") continue;
    ASSERT_TRUE(file->finish(place / "whole").ok());
  }
  EXPECT_EQ(read_file(place / "whole"), "onetwo");
}

TEST(WindowsFilesTest, LocksHaveOneHolderInHardPlaces) {
  const ScratchFolder folder;
  const auto file = hard_folder(folder) / "lock";
  {
    const auto first = FileLock::acquire(file, std::chrono::milliseconds(0));
    ASSERT_TRUE(first.ok()) << first.status().to_string();
    EXPECT_EQ(FileLock::acquire(file, std::chrono::milliseconds(10)).status().code(), StatusCode::kBusy);
  }
  EXPECT_TRUE(FileLock::acquire(file, std::chrono::milliseconds(0)).ok());
}

TEST(WindowsFilesTest, AFileThatIsMappedStaysValidWhenAnotherIsPutInItsPlaceOrIsRefused) {
  const ScratchFolder folder;
  ASSERT_TRUE(write(folder / "file", "old").ok());
  const auto mapped = MappedFile::open(folder / "file");
  ASSERT_TRUE(mapped.ok());
  const auto status = write(folder / "file", "new");
  EXPECT_EQ(text_of(*mapped), "old");
  // A system that keeps mapped files in their place has to say so.
  if (status.ok()) {
    EXPECT_EQ(read_file(folder / "file"), "new");
  } else {
    EXPECT_EQ(status.code(), StatusCode::kPermissionDenied) << status.to_string();
    EXPECT_EQ(read_file(folder / "file"), "old");
  }
  EXPECT_EQ(folder.names(), Names{"file"});
}

TEST(WindowsFilesTest, AReadOnlyFileIsNotReplaced) {
  const ScratchFolder folder;
  write_file(folder / "file", "old");
  ASSERT_NE(::SetFileAttributesW((folder / "file").c_str(), FILE_ATTRIBUTE_READONLY), 0);
  EXPECT_EQ(write(folder / "file", "new").code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(read_file(folder / "file"), "old");
  EXPECT_EQ(folder.names(), Names{"file"});
  ::SetFileAttributesW((folder / "file").c_str(), FILE_ATTRIBUTE_NORMAL);
}

TEST(WindowsFilesTest, WhatIsNoPlaceForAFileIsNamed) {
  const ScratchFolder folder;
  EXPECT_EQ(write(folder.path(), "x").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(write(folder / "none" / "file", "x").code(), StatusCode::kNotFound);
  EXPECT_THAT(write(folder / "none" / "file", "x").to_string(), HasSubstr("create it first"));
  EXPECT_EQ(write("", "x").code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(write("NUL", "goes nowhere").ok());
  EXPECT_EQ(MappedFile::open(folder.path()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(MappedFile::open(folder / "none").status().code(), StatusCode::kNotFound);
}

TEST(WindowsFilesTest, MapsAnEmptyFileAndJoinsATail) {
  const ScratchFolder folder;
  write_file(folder / "empty", "");
  EXPECT_EQ(MappedFile::open(folder / "empty")->bytes().size(), 0U);
  write_file(folder / "file", "0123456789");
  const std::string tail = "tail";
  const auto file = MappedFile::open(folder / "file");
  ASSERT_TRUE(file.ok());
  const auto joined = MappedFile::with_tail({folder / "file", 2, 5}, file->identity(), file->bytes().subspan(2, 5),
                                            std::as_bytes(std::span(tail)));
  ASSERT_TRUE(joined.ok()) << joined.status().to_string();
  EXPECT_EQ(text_of(*joined).substr(0, 5), "23456");
  EXPECT_THAT(text_of(*joined), ::testing::EndsWith("tail"));
}

TEST(WindowsFilesTest, PathsBecomeTextAndBack) {
  const std::string text = "C:/Ünï 模型/файл";
  EXPECT_EQ(path_to_utf8(path_from_utf8(text)), text);
  EXPECT_EQ(quoted(path_from_utf8("C:/a\nb")), "'C:/a\\x0ab'");
}

}  // namespace
}  // namespace latebind::platform
