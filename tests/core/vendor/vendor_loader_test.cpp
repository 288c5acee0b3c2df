#include "core/vendor/vendor_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "tests/support/fake_file_system.h"
#include "tests/support/latch.h"

namespace latebind::core {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Library {
  std::string file;
  std::string version;
};

VendorLibrary wanted() {
  VendorLibrary result;
  result.product = "Acme";
  result.install_command = "pip install acme";
  result.stem = "acme";
  result.package_folder = "acme/libs";
  result.library_variables = {"OWN_ACME"};
  return result;
}

// Opens the files in `good`, and counts.
class VendorLoaderTest : public testing::Test {
 protected:
  VendorLoader<Library> make(const test::FakeFileSystem& files) {
    return VendorLoader<Library>(
        wanted(), [this] { return facts_; },
        [this](const std::string& file) -> Result<std::shared_ptr<const Library>> {
          ++opened_;
          if (!good_.contains(file)) return Status(StatusCode::kLibraryUnusable, file + " is broken");
          return std::make_shared<const Library>(Library{file, "7.0"});
        },
        files);
  }

  SearchFacts facts_;
  std::set<std::string> good_;
  int opened_ = 0;
};

TEST_F(VendorLoaderTest, WhatIsLeftOutIsNotOpenedAndTheErrorSaysWhy) {
  test::FakeFileSystem files({"/usr/lib/libacme.so"});
  files.others = {"/usr/lib"};
  good_ = {"/usr/lib/libacme.so"};
  auto loader = make(files);
  const Status status = loader.library().status();
  EXPECT_EQ(status.code(), StatusCode::kLibraryNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/usr/lib/libacme.so is skipped"));
  EXPECT_EQ(opened_, 0);
}

TEST_F(VendorLoaderTest, AMissingLibraryIsExpectedWhereItIsNamedOrLeftOut) {
  const test::FakeFileSystem none;
  EXPECT_FALSE(make(none).is_expected());
  test::FakeFileSystem left_out({"/usr/lib/libacme.so"});
  left_out.others = {"/usr/lib"};
  EXPECT_TRUE(make(left_out).is_expected());
  facts_.variables["OWN_ACME"] = "/nonexistent/libacme.so";
  EXPECT_TRUE(make(none).is_expected());
}

TEST_F(VendorLoaderTest, TakesTheFirstThatOpensAndKeepsIt) {
  const test::FakeFileSystem files({"/usr/local/lib/libacme.so", "/usr/lib64/libacme.so", "/usr/lib/libacme.so"});
  good_ = {"/usr/lib64/libacme.so", "/usr/lib/libacme.so"};
  auto loader = make(files);
  const auto library = loader.library();
  ASSERT_TRUE(library.ok()) << library.status().to_string();
  EXPECT_EQ((*library)->file, "/usr/lib64/libacme.so");
  EXPECT_EQ(opened_, 2);
  EXPECT_EQ(*loader.library(), *library);
  EXPECT_EQ(opened_, 2);

  const auto trace = loader.trace();
  EXPECT_TRUE(trace.back().opened);
  EXPECT_EQ(trace.back().outcome, "opened, version 7.0");
  const auto broken = std::find_if(trace.begin(), trace.end(),
                                   [](const SearchStep& step) { return step.place == "/usr/local/lib/libacme.so"; });
  ASSERT_NE(broken, trace.end());
  EXPECT_EQ(broken->outcome, "/usr/local/lib/libacme.so is broken");
  EXPECT_FALSE(broken->opened);
}

TEST_F(VendorLoaderTest, ForgetsAFailure) {
  const test::FakeFileSystem files({"/usr/lib/libacme.so"});
  auto loader = make(files);
  EXPECT_EQ(loader.library().status().code(), StatusCode::kLibraryUnusable);
  good_ = {"/usr/lib/libacme.so"};
  EXPECT_TRUE(loader.library().ok());
}

TEST_F(VendorLoaderTest, NothingFoundSaysWhatToDo) {
  const test::FakeFileSystem files;
  auto loader = make(files);
  const auto status = loader.library().status();
  EXPECT_EQ(status.code(), StatusCode::kLibraryNotFound);
  // The cause and the command, and nothing else.
  EXPECT_EQ(status.to_string(), "Acme was not found: install it (pip install acme)");
  EXPECT_THAT(std::string(status.details()),
              AllOf(HasSubstr("/usr/lib64"), HasSubstr("\n"
                                                       "set OWN_ACME to the full path of libacme.so")));
  EXPECT_EQ(status.to_string().find('\n'), std::string::npos);
  EXPECT_THAT(status.brief(), AllOf(HasSubstr("pip install acme"), Not(HasSubstr("/usr/lib64"))));
}

TEST_F(VendorLoaderTest, AChosenLibraryThatFailsNamesWhoChoseIt) {
  facts_.variables["OWN_ACME"] = "/mine/libacme.so";
  const test::FakeFileSystem files({"/mine/libacme.so", "/usr/lib/libacme.so"});
  good_ = {"/usr/lib/libacme.so"};
  auto loader = make(files);
  const auto status = loader.library().status();
  EXPECT_EQ(status.code(), StatusCode::kLibraryUnusable);
  EXPECT_THAT(status.to_string(),
              AllOf(HasSubstr("at the path set by OWN_ACME"), HasSubstr("/mine/libacme.so is broken")));
  EXPECT_EQ(opened_, 1);
}

TEST_F(VendorLoaderTest, TraceLooksWhenNothingDidYet) {
  const test::FakeFileSystem files({"/usr/lib/libacme.so"});
  good_ = {"/usr/lib/libacme.so"};
  auto loader = make(files);
  EXPECT_EQ(opened_, 0);
  EXPECT_TRUE(loader.trace().back().opened);
  EXPECT_TRUE(loader.library().ok());
  EXPECT_EQ(opened_, 1);
}

TEST_F(VendorLoaderTest, ThreadsThatAskTogetherOpenOnce) {
  const test::FakeFileSystem files({"/usr/lib/libacme.so"});
  good_ = {"/usr/lib/libacme.so"};
  auto loader = make(files);
  test::Latch start(16);
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      EXPECT_TRUE(loader.library().ok());
    });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(opened_, 1);
}

}  // namespace
}  // namespace latebind::core
