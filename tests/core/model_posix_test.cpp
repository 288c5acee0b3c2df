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

#include "core/file_digests.h"
#include "core/model.h"
#include "core/platform/files/temporary_folder.h"

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
