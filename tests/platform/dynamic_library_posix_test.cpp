#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/platform/dynamic_library.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using core::Status;
using core::StatusCode;
using testing::ScratchFolder;

bool has(const Status& status, std::string_view words) {
  return status.to_string().find(words) != std::string::npos;
}

Status refusal(const std::filesystem::path& file) {
  return DynamicLibrary::open(file).status();
}

int answer_of(const DynamicLibrary& library) {
  auto* const answer = reinterpret_cast<int (*)()>(library.symbol("lb_fixture_answer"));
  return answer != nullptr ? answer() : -1;
}

void count_unloads(const DynamicLibrary& library, int* counter) {
  reinterpret_cast<void (*)(int*)>(library.symbol("lb_fixture_count_unloads"))(counter);
}

TEST(DynamicLibraryTest, OpensALibraryAndFindsItsSymbols) {
  const auto library = DynamicLibrary::open(FIXTURE_WHOLE);
  ASSERT_TRUE(library.ok()) << library.status().to_string();
  EXPECT_EQ(answer_of(*library), 42);
  EXPECT_EQ(library->file(), FIXTURE_WHOLE);
  EXPECT_EQ(library->symbol("lb_fixture_no_such_function"), nullptr);
  EXPECT_EQ(library->symbol(nullptr), nullptr);
}

TEST(DynamicLibraryTest, ShowsItsSymbolsToNobodyElse) {
  const auto library = DynamicLibrary::open(FIXTURE_WHOLE);
  ASSERT_TRUE(library.ok());
  EXPECT_NE(library->symbol("lb_fixture_answer"), nullptr);
  EXPECT_EQ(::dlsym(RTLD_DEFAULT, "lb_fixture_answer"), nullptr);
}

TEST(DynamicLibraryTest, BindsEverythingAtOnce) {
  const Status status = refusal(FIXTURE_UNRESOLVED);
  EXPECT_EQ(status.code(), StatusCode::kLibraryUnusable);
  EXPECT_NE(status.vendor_text().find("lb_fixture_function_of_nobody"), std::string_view::npos) << status.to_string();
}

TEST(DynamicLibraryTest, TellsAMissingDependencyFromAMissingLibrary) {
  const Status status = refusal(FIXTURE_DEPENDENT);
  EXPECT_EQ(status.code(), StatusCode::kLibraryUnusable);
  EXPECT_NE(status.vendor_text().find("lb_fixture_missing"), std::string_view::npos) << status.to_string();
}

TEST(DynamicLibraryTest, IsClosedByItsLastOwnerOnly) {
  int unloads = 0;
  {
    auto opened = DynamicLibrary::open(FIXTURE_WHOLE);
    ASSERT_TRUE(opened.ok());
    count_unloads(*opened, &unloads);
    DynamicLibrary moved = *std::move(opened);
    // NOLINTNEXTLINE(bugprone-use-after-move): that is the test
    EXPECT_EQ(opened->symbol("lb_fixture_answer"), nullptr) << "moved from";
    auto other = DynamicLibrary::open(FIXTURE_DEPENDENCY);
    ASSERT_TRUE(other.ok());
    *other = std::move(moved);
    EXPECT_EQ(answer_of(*other), 42);
    EXPECT_EQ(unloads, 0);
  }
  EXPECT_EQ(unloads, 1);
}

TEST(DynamicLibraryTest, ClosesWhatItHeldWhenAnotherIsMovedIn) {
  int unloads = 0;
  auto held = DynamicLibrary::open(FIXTURE_WHOLE);
  auto other = DynamicLibrary::open(FIXTURE_DEPENDENCY);
  ASSERT_TRUE(held.ok() && other.ok());
  count_unloads(*held, &unloads);
  *held = *std::move(other);
  EXPECT_EQ(unloads, 1);
  EXPECT_NE(held->symbol("lb_fixture_dependency_answer"), nullptr);
}

TEST(DynamicLibraryTest, StaysInTheProcessWhenLeaked) {
  // A copy, since the loader counts one file once, and other tests want theirs to go.
  const ScratchFolder folder;
  std::filesystem::copy_file(FIXTURE_WHOLE, folder / "leaked.so");
  static int unloads = 0;
  {
    auto library = DynamicLibrary::open(folder / "leaked.so");
    ASSERT_TRUE(library.ok());
    count_unloads(*library, &unloads);
    library->leak();
    EXPECT_EQ(answer_of(*library), 42) << "a leaked library still answers";
    const DynamicLibrary moved = *std::move(library);
    EXPECT_EQ(answer_of(moved), 42);
  }
  EXPECT_EQ(unloads, 0);
}

TEST(DynamicLibraryTest, WhatHasComeSinceStaysWhoeverClosesIt) {
  const ScratchFolder folder;
  std::filesystem::copy_file(FIXTURE_WHOLE, folder / "before.so");
  std::filesystem::copy_file(FIXTURE_WHOLE, folder / "since.so");
  static int unloads_before = 0;
  static int unloads_since = 0;
  {
    auto there = DynamicLibrary::open(folder / "before.so");
    ASSERT_TRUE(there.ok());
    count_unloads(*there, &unloads_before);
    const auto before = loaded_libraries();
    auto since = DynamicLibrary::open(folder / "since.so");
    ASSERT_TRUE(since.ok());
    count_unloads(*since, &unloads_since);
    keep_libraries_since(before);
  }
  EXPECT_EQ(unloads_before, 1);
  EXPECT_EQ(unloads_since, 0);
}

TEST(DynamicLibraryTest, WhatIsNamedStaysWhoeverClosesIt) {
  const ScratchFolder folder;
  std::filesystem::copy_file(FIXTURE_WHOLE, folder / "libvendor_plugin.so");
  std::filesystem::copy_file(FIXTURE_WHOLE, folder / "other_libvendor.so");
  static int unloads_of_vendor = 0;
  static int unloads_of_other = 0;
  {
    auto vendor = DynamicLibrary::open(folder / "libvendor_plugin.so");
    auto other = DynamicLibrary::open(folder / "other_libvendor.so");
    ASSERT_TRUE(vendor.ok() && other.ok());
    count_unloads(*vendor, &unloads_of_vendor);
    count_unloads(*other, &unloads_of_other);
    keep_libraries_named("libvendor");
  }
  EXPECT_EQ(unloads_of_vendor, 0);
  EXPECT_EQ(unloads_of_other, 1);
}

TEST(DynamicLibraryTest, NeverSearches) {
  EXPECT_EQ(refusal("").code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(has(refusal(""), "an empty path"));
  // All of these the loader would find: by name in the system's folders, and in the current one.
  const ScratchFolder folder;
  std::filesystem::copy_file(FIXTURE_WHOLE, folder / "here.so");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (const char* name : {"libc.so.6", "here.so", "./here.so"}) {
    EXPECT_EQ(refusal(name).code(), StatusCode::kInvalidArgument) << name;
    EXPECT_TRUE(has(refusal(name), "the path is relative")) << refusal(name).to_string();
  }
  std::filesystem::current_path(before);
}

TEST(DynamicLibraryTest, SaysNotFoundOnlyForWhatIsNotThere) {
  const ScratchFolder folder;
  EXPECT_EQ(refusal(folder / "libnone.so").code(), StatusCode::kNotFound);
  testing::write_file(folder / "file", "x");
  EXPECT_EQ(refusal(folder / "file" / "libnone.so").code(), StatusCode::kNotFound);
  std::filesystem::create_symlink(folder / "nowhere", folder / "link.so");
  EXPECT_EQ(refusal(folder / "link.so").code(), StatusCode::kNotFound);
  EXPECT_TRUE(has(refusal(folder / "link.so"), "is a link to a file that does not exist"));

  EXPECT_EQ(refusal(folder.path()).code(), StatusCode::kLibraryUnusable);
  EXPECT_TRUE(has(refusal(folder.path()), "is a folder, not a library"));
  EXPECT_EQ(refusal(folder / "file").code(), StatusCode::kLibraryUnusable);
}

TEST(DynamicLibraryTest, OpensThroughALink) {
  const ScratchFolder folder;
  std::filesystem::create_symlink(FIXTURE_WHOLE, folder / "link.so");
  const auto library = DynamicLibrary::open(folder / "link.so");
  ASSERT_TRUE(library.ok()) << library.status().to_string();
  EXPECT_EQ(answer_of(*library), 42);
}

TEST(DynamicLibraryTest, RefusesPipesAndDevicesWithoutWaitingForThem) {
  const ScratchFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe.so").c_str(), 0666), 0);
  EXPECT_EQ(refusal(folder / "pipe.so").code(), StatusCode::kLibraryUnusable);
  EXPECT_EQ(refusal("/dev/zero").code(), StatusCode::kLibraryUnusable);
}

TEST(DynamicLibraryTest, RefusesAPathWithAZeroByteInIt) {
  const std::string path = std::string(FIXTURE_WHOLE) + '\0' + "/elsewhere.so";
  const Status status = refusal(path);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(has(status, "zero byte"));
}

TEST(DynamicLibraryTest, KeepsTheLoadersWordsAboutWhatIsNoLibrary) {
  const ScratchFolder folder;
  testing::write_file(folder / "text.so", std::string(5000, 'x'));
  testing::write_file(folder / "empty.so", "");
  for (const char* name : {"text.so", "empty.so"}) {
    const Status status = refusal(folder / name);
    EXPECT_EQ(status.code(), StatusCode::kLibraryUnusable) << name;
    EXPECT_NE(status.vendor_text().find(name), std::string_view::npos) << status.to_string();
    EXPECT_TRUE(status.vendor_code().has_value());
  }
}

TEST(DynamicLibraryTest, KeepsTheLoadersWordsAboutAnotherProcessor) {
  const ScratchFolder folder;
  std::string image = testing::read_file(FIXTURE_WHOLE);
  constexpr std::size_t kMachine = 18;
  image[kMachine] = '\x08';  // MIPS
  testing::write_file(folder / "mips.so", image);
  const Status status = refusal(folder / "mips.so");
  EXPECT_EQ(status.code(), StatusCode::kLibraryUnusable);
  EXPECT_FALSE(status.vendor_text().empty());
}

TEST(DynamicLibraryTest, RefusesALibraryThatWasCutOffAnywhere) {
  const ScratchFolder folder;
  const std::string image = testing::read_file(FIXTURE_DEPENDENCY);
  const auto file = folder / "cut.so";
  // The end of the file is symbols and sections, which the loader does not need; the rest it would map and touch.
  bool some_cut_off = false;
  for (std::size_t eighths = 0; eighths <= 4; ++eighths) {
    testing::write_file(file, image.substr(0, image.size() * eighths / 8));
    const std::string answer = testing::in_child([&] { return refusal(file).to_string(); });
    ASSERT_FALSE(answer.empty()) << "the process died of a library cut at " << eighths << "/8";
    if (answer.find("is truncated") != std::string::npos) some_cut_off = true;
  }
  EXPECT_TRUE(some_cut_off);
}

TEST(DynamicLibraryTest, KeepsTheLoadersWordsAboutAFileThatMayNotBeRead) {
  const ScratchFolder folder;
  std::filesystem::copy_file(FIXTURE_WHOLE, folder / "secret.so");
  ::chmod((folder / "secret.so").c_str(), 0000);
  const std::string answer = testing::as_nobody([&] {
    const Status status = refusal(folder / "secret.so");
    return std::string(core::name_of(status.code())) + " " + std::string(status.vendor_text());
  });
  EXPECT_NE(answer.find("LIBRARY_UNUSABLE"), std::string::npos) << answer;
  EXPECT_NE(answer.find("Permission denied"), std::string::npos) << answer;
}

TEST(DynamicLibraryTest, OpensFromManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<int> answers(8, 0);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    threads.emplace_back([&answers, i] {
      for (int round = 0; round < 20; ++round) {
        const auto library = DynamicLibrary::open(FIXTURE_WHOLE);
        if (!library.ok() || answer_of(*library) != 42) return;
        // Each thread's refusal is its own.
        if (!has(refusal("/nowhere/" + std::to_string(i)), "/nowhere/" + std::to_string(i))) return;
      }
      answers[i] = 42;
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(answers, std::vector<int>(8, 42));
}

TEST(SystemLibraryTest, IsFoundByItsBareName) {
  const auto library = DynamicLibrary::open_system("libm.so.6");
  ASSERT_TRUE(library.ok()) << library.status().to_string();
  EXPECT_NE(library->symbol("cos"), nullptr);
}

TEST(SystemLibraryTest, KeepsTheLoadersWordsWhenThereIsNone) {
  const Status status = DynamicLibrary::open_system("liblatebind_none.so.9").status();
  EXPECT_EQ(status.code(), StatusCode::kLibraryNotFound);
  EXPECT_TRUE(has(status, "No such file")) << status.to_string();
}

TEST(SystemLibraryTest, IsNoPath) {
  for (const std::string& name :
       {std::string(FIXTURE_WHOLE), std::string("./x.so"), std::string(), std::string("a\0b", 3)}) {
    EXPECT_EQ(DynamicLibrary::open_system(name).status().code(), StatusCode::kInvalidArgument) << name;
  }
}

TEST(OwnModuleTest, IsTheProgramForWhatIsLinkedIntoIt) {
  const auto file = own_module_file();
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  EXPECT_EQ(*file, std::filesystem::read_symlink("/proc/self/exe"));
}

TEST(OwnModuleTest, IsTheLibraryForWhatIsLinkedIntoThat) {
  const ScratchFolder folder;
  const auto copy = std::filesystem::canonical(folder.path()) / "with space.so";
  std::filesystem::copy_file(FIXTURE_OWN_FILE, copy);
  const auto library = DynamicLibrary::open(copy);
  ASSERT_TRUE(library.ok());
  auto* const own_file = reinterpret_cast<const char* (*)()>(library->symbol("lb_fixture_own_file"));
  EXPECT_EQ(std::string(own_file()), copy.string());
  std::filesystem::remove(copy);
  EXPECT_EQ(std::string(own_file()), "") << "a removed file is no place to search beside";
}

TEST(LibraryFileNameTest, IsTheSystems) {
  EXPECT_EQ(library_file_name("openvino_c"), "libopenvino_c.so");
}

}  // namespace
}  // namespace latebind::platform
