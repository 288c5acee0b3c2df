// Files of models that are linked to nowhere, are no files, or are called something else by now.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/cache/file_digests.h"
#include "core/model/model.h"
#include "core/platform/files/temporary_folder.h"
#include "tests/support/onnx_builder.h"

namespace latebind::core {
namespace {

using ::testing::HasSubstr;

TEST(ModelLinkTest, WeightsThatAreALinkToThemselvesAreAnError) {
  const auto folder = platform::TemporaryFolder::create("latebind-model-test");
  ASSERT_TRUE(folder.ok()) << folder.status().to_string();
  std::ofstream(folder->path() / "b.xml") << "<net/>";
  std::filesystem::create_symlink("b.bin", folder->path() / "b.bin");
  const auto model = Model::from_file(folder->path() / "b.xml");
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), StatusCode::kIo);
  EXPECT_THAT(model.status().to_string(), HasSubstr("b.bin"));
}

TEST(ModelFileTest, WeightsThatAreAPipeAreAnErrorAndNobodyWaitsForThem) {
  const auto folder = platform::TemporaryFolder::create("latebind-model-test");
  ASSERT_TRUE(folder.ok()) << folder.status().to_string();
  std::ofstream(folder->path() / "b.xml") << "<net/>";
  ASSERT_EQ(::mkfifo((folder->path() / "b.bin").c_str(), 0600), 0);
  const auto model = Model::from_file(folder->path() / "b.xml");
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.status().to_string(), HasSubstr("b.bin"));
}

// A model with data in another file, each behind a link as in the hub's cache.
class LinkedDataTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(folder_.ok()) << folder_.status().to_string();
    std::filesystem::create_directories(snapshot_);
    std::filesystem::create_directories(blobs_ / "ab");
    const float numbers[] = {1, 2, 3};
    std::ofstream(blobs_ / "E2", std::ios::binary).write(reinterpret_cast<const char*>(numbers), sizeof numbers);
  }
  void write_model(const std::filesystem::path& file, const std::string& location = "model.onnx_data") {
    test::OnnxBuilder builder;
    builder.input("x", ElementType::kF32, {3})
        .output("y", ElementType::kF32, {3})
        .external_constant("w", ElementType::kF32, {3}, location, 0, 12)
        .node("Add", {"x", "w"}, {"y"});
    std::ofstream(file, std::ios::binary) << builder.bytes();
  }

  const Result<platform::TemporaryFolder> folder_ = platform::TemporaryFolder::create("latebind-model-test");
  const std::filesystem::path snapshot_ = folder_.ok() ? folder_->path() / "snapshots" / "c" : std::filesystem::path();
  const std::filesystem::path blobs_ = folder_.ok() ? folder_->path() / "blobs" : std::filesystem::path();
};

TEST_F(LinkedDataTest, DataBehindALinkComesInMemoryUnderTheNameThatTheModelHasForIt) {
  write_model(blobs_ / "E1");
  std::filesystem::create_symlink("../../blobs/E1", snapshot_ / "model.onnx");
  std::filesystem::create_symlink("../../blobs/E2", snapshot_ / "model.onnx_data");
  const auto model = Model::from_file(snapshot_ / "model.onnx");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->name(), "model.onnx");
  const ModelForm& form = model->forms().front();
  EXPECT_TRUE(form.file.empty());
  ASSERT_EQ(form.external.size(), 1U);
  EXPECT_EQ(form.external.front().location, "model.onnx_data");
  EXPECT_EQ(form.external.front().file, snapshot_ / "model.onnx_data");
  EXPECT_EQ(form.external.front().data.bytes.size(), 12U);
  EXPECT_TRUE(form.external.front().may_open_file);
  EXPECT_TRUE(model->check_forms().ok());
  EXPECT_TRUE(model->check_files().ok());
  const auto digest = model->digest();
  ASSERT_TRUE(digest.ok()) << digest.status().to_string();
  // Another link is another model.
  std::filesystem::remove(snapshot_ / "model.onnx_data");
  std::ofstream(blobs_ / "E3") << "abcdefghijkl";
  std::filesystem::create_symlink("../../blobs/E3", snapshot_ / "model.onnx_data");
  EXPECT_TRUE(model->check_bytes().ok());
  EXPECT_FALSE(model->check_files().ok());
  EXPECT_NE(*Model::from_file(snapshot_ / "model.onnx")->digest(), *digest);
}

TEST_F(LinkedDataTest, WhatVendorsFindByThemselvesStaysAFile) {
  // Beside each other, links within the folder, and a folder that is a link.
  write_model(blobs_ / "model.onnx");
  std::filesystem::create_symlink("E2", blobs_ / "model.onnx_data");
  std::filesystem::create_directory_symlink(blobs_, snapshot_ / "linked");
  for (const auto& folder : {blobs_, snapshot_ / "linked"}) {
    const auto model = Model::from_file(folder / "model.onnx");
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    EXPECT_EQ(model->forms().front().file, folder / "model.onnx");
    EXPECT_TRUE(model->forms().front().external.empty());
  }
}

TEST_F(LinkedDataTest, ANameThatLeadsOutAndDataThatIsNotThereAreLeftToVendors) {
  for (const std::string& location :
       {std::string("../blobs/E2"), (blobs_ / "E2").string(), std::string("model.onnx_data")}) {
    write_model(snapshot_ / "model.onnx", location);
    const auto model = Model::from_file(snapshot_ / "model.onnx");
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    EXPECT_FALSE(model->forms().front().file.empty()) << location;
  }
}

TEST(ModelFileTest, AModelIsFoundAfterTheWorkingFolderHasChanged) {
  const auto folder = platform::TemporaryFolder::create("latebind-model-test");
  ASSERT_TRUE(folder.ok()) << folder.status().to_string();
  std::ofstream(folder->path() / "a.onnx") << std::string("\x08\x0a\x3a\x00", 4);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder->path());
  const auto model = Model::from_file("a.onnx");
  std::filesystem::current_path(before);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_TRUE(model->check_bytes().ok());
  EXPECT_TRUE(model->digest().ok());
}

// What is written through a mapping leaves the file's times and size as they are, here and there.
TEST(ModelFileTest, ADigestThatIsComputedIsOfWhatIsThereNow) {
  const auto folder = platform::TemporaryFolder::create("latebind-model-test");
  ASSERT_TRUE(folder.ok()) << folder.status().to_string();
  const auto file = folder->path() / "weights";
  constexpr std::size_t kBytes = std::size_t{2} << 20;
  std::ofstream(file) << std::string(kBytes, 'w');
  const int handle = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(handle, 0);
  void* const mapped = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  static_cast<char*>(mapped)[0] = 'w';
  FileDigests digests(folder->path() / "digests", std::chrono::nanoseconds(0));
  const auto first = digests.compute(file);
  static_cast<char*>(mapped)[0] = 'x';
  const auto second = digests.compute(file);
  ::munmap(mapped, kBytes);
  ::close(handle);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(*first, *second);
}

}  // namespace
}  // namespace latebind::core
