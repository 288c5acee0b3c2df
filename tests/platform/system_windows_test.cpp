// Libraries, processes, variables and folders of Windows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "core/platform/child_process.h"
#include "core/platform/dynamic_library.h"
#include "core/platform/environment.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/temporary_folder.h"
#include "core/platform/standard_streams.h"
#include "core/platform/system_info.h"
#include "tests/platform/windows_support.h"

namespace latebind::platform {
namespace {

using core::StatusCode;
using End = ChildOutcome::End;
using std::chrono::milliseconds;
using testing::hard_folder;
using ::testing::HasSubstr;
using testing::ScopedVariable;
using testing::ScratchFolder;

int answer_of(const DynamicLibrary& library) {
  auto* const answer = reinterpret_cast<int (*)()>(library.symbol("lb_fixture_answer"));
  return answer != nullptr ? answer() : -1;
}

TEST(WindowsLibraryTest, OpensAFileFindsItsSymbolsAndClosesIt) {
  const ScratchFolder folder;
  std::filesystem::copy_file(FIXTURE_WHOLE, folder / "whole.dll");
  int unloads = 0;
  {
    const auto library = DynamicLibrary::open(folder / "whole.dll");
    ASSERT_TRUE(library.ok()) << library.status().to_string();
    EXPECT_EQ(answer_of(*library), 42);
    EXPECT_EQ(library->symbol("lb_fixture_no_such_function"), nullptr);
    reinterpret_cast<void (*)(int*)>(library->symbol("lb_fixture_count_unloads"))(&unloads);
  }
  EXPECT_EQ(unloads, 1);
}

TEST(WindowsLibraryTest, OpensAFileInAHardPlace) {
  const ScratchFolder folder;
  const auto file = hard_folder(folder) / utf16_of("библиотека.dll");
  std::filesystem::copy_file(FIXTURE_WHOLE, file);
  const auto library = DynamicLibrary::open(file);
  ASSERT_TRUE(library.ok()) << library.status().to_string();
  EXPECT_EQ(answer_of(*library), 42);
}

TEST(WindowsLibraryTest, NeverSearchesTheCurrentFolder) {
  const ScratchFolder folder;
  std::filesystem::copy_file(FIXTURE_WHOLE, folder / "lb_here.dll");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (const char* name : {"lb_here.dll", "./lb_here.dll", ".\\lb_here.dll", "kernel32.dll"})
    EXPECT_EQ(DynamicLibrary::open(name).status().code(), StatusCode::kInvalidArgument) << name;
  EXPECT_EQ(DynamicLibrary::open_system("lb_here.dll").status().code(), StatusCode::kLibraryNotFound);
  std::filesystem::current_path(before);
  EXPECT_TRUE(DynamicLibrary::open_system("kernel32.dll").ok());
  EXPECT_EQ(DynamicLibrary::open_system("folder\\x.dll").status().code(), StatusCode::kInvalidArgument);
}

TEST(WindowsLibraryTest, TellsWhatIsMissingFromWhatIsWrong) {
  const ScratchFolder folder;
  EXPECT_EQ(DynamicLibrary::open(folder / "none.dll").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(DynamicLibrary::open(folder.path()).status().code(), StatusCode::kLibraryUnusable);
  EXPECT_EQ(DynamicLibrary::open("").status().code(), StatusCode::kInvalidArgument);
  testing::write_file(folder / "text.dll", "no library");
  const auto text = DynamicLibrary::open(folder / "text.dll").status();
  EXPECT_EQ(text.code(), StatusCode::kLibraryUnusable);
  EXPECT_FALSE(text.vendor_text().empty());
  EXPECT_EQ(DynamicLibrary::open(FIXTURE_DEPENDENT).status().code(), StatusCode::kLibraryUnusable);
}

TEST(WindowsLibraryTest, KnowsItsOwnFile) {
  const auto library = DynamicLibrary::open(FIXTURE_OWN_FILE);
  ASSERT_TRUE(library.ok()) << library.status().to_string();
  auto* const own = reinterpret_cast<const char* (*)()>(library->symbol("lb_fixture_own_file"));
  ASSERT_NE(own, nullptr);
  EXPECT_THAT(own(), HasSubstr("lb_fixture_own_file.dll"));
  EXPECT_THAT(path_to_utf8(*own_module_file()), HasSubstr("lb_platform_tests"));
}

TEST(WindowsProcessTest, GivesBothStreamsTheStatusAndTheArguments) {
  const std::vector<std::string> words{"say", "a b", "quote\"d", "back\\slash\\", "\\\"", "Ünï 模型 🙂", "", "*"};
  const auto outcome = run_child(FIXTURE_CHILD, words, {});
  ASSERT_TRUE(outcome.ok()) << outcome.status().to_string();
  EXPECT_EQ(outcome->end, End::kExited);
  EXPECT_EQ(outcome->number, 3);
  std::string expected;
  for (std::size_t i = 1; i < words.size(); ++i)
    expected += words[i] + "\n";
  EXPECT_EQ(outcome->output, expected);
  EXPECT_EQ(outcome->errors, "err");
}

TEST(WindowsProcessTest, ACrashIsNotAnExitStatus) {
  const auto outcome = run_child(FIXTURE_CHILD, {"crash"}, {});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kSignal);
  EXPECT_EQ(static_cast<unsigned>(outcome->number), 0xC0000005U);
}

TEST(WindowsProcessTest, OneThatHangsIsEndedWithWhatItHasSaid) {
  const auto outcome = run_child(FIXTURE_CHILD, {"hang"}, {.time = std::chrono::seconds(3)});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kTimedOut);
  EXPECT_EQ(outcome->output, "started");
}

TEST(WindowsProcessTest, OutputIsBoundedAndThereIsNothingToRead) {
  const auto full = run_child(FIXTURE_CHILD, {"fill"}, {.output_bytes = 1000});
  ASSERT_TRUE(full.ok());
  EXPECT_TRUE(full->good());
  EXPECT_EQ(full->output.size(), 1000U);
  EXPECT_EQ(run_child(FIXTURE_CHILD, {"read"}, {})->output, "-1");
}

TEST(WindowsProcessTest, WhatCannotBeStartedIsNamed) {
  const ScratchFolder folder;
  EXPECT_EQ(run_child(folder / "none.exe", {}, {}).status().code(), StatusCode::kNotFound);
  testing::write_file(folder / "text.exe", "no program");
  const auto text = run_child(folder / "text.exe", {}, {}).status();
  EXPECT_FALSE(text.ok());
  EXPECT_THAT(text.to_string(), HasSubstr("text.exe"));
}

TEST(WindowsProcessTest, KnowsThisProgramsFile) {
  EXPECT_THAT(path_to_utf8(own_program_file()->filename()), ::testing::StartsWith("lb_platform_tests"));
}

TEST(WindowsEnvironmentTest, ReadsVariablesOfAnyLengthAndScript) {
  const std::string long_value(5000, 'v');
  const ScopedVariable one("LATEBIND_TEST_LONG", long_value);
  const ScopedVariable two("LATEBIND_TEST_ÜNÏ", "模型");
  EXPECT_EQ(environment("LATEBIND_TEST_LONG"), long_value);
  EXPECT_EQ(environment("LATEBIND_TEST_ÜNÏ"), "模型");
  EXPECT_EQ(environment("LATEBIND_TEST_NONE"), std::nullopt);
  EXPECT_THAT(environment_with_prefix("LATEBIND_TEST_Ü"),
              ::testing::Contains(std::pair<std::string, std::string>("LATEBIND_TEST_ÜNÏ", "模型")));
}

TEST(WindowsFoldersTest, AreTheUsersOwn) {
  for (const auto& folder : {cache_folder(), config_folder(), home_folder()}) {
    ASSERT_TRUE(folder.ok()) << folder.status().to_string();
    EXPECT_TRUE(folder->is_absolute());
  }
  EXPECT_THAT(path_to_utf8(*cache_folder()), HasSubstr("Local"));
  EXPECT_THAT(path_to_utf8(*config_folder()), HasSubstr("Roaming"));
  EXPECT_THAT(path_to_utf8(system_config_folder()), HasSubstr("ProgramData"));
}

TEST(WindowsFoldersTest, ATemporaryFolderGoesWithItsContent) {
  std::filesystem::path place;
  {
    const auto folder = platform::TemporaryFolder::create("latebind-test");
    ASSERT_TRUE(folder.ok()) << folder.status().to_string();
    place = folder->path();
    testing::write_file(place / "file", "x");
  }
  EXPECT_FALSE(std::filesystem::exists(place));
}

TEST(WindowsSystemTest, KnowsTheMachine) {
  EXPECT_GE(usable_processors(), 1U);
  EXPECT_GT(available_memory_bytes(), 0U);
  EXPECT_GT(resident_bytes(), 0U);
  EXPECT_GE(peak_resident_bytes(), resident_bytes());
  EXPECT_FALSE(cpu_name().empty());
  EXPECT_EQ(platform_name(), "windows-x86_64");
}

TEST(WindowsStreamsTest, ATemporaryStreamHoldsBytesAsTheyAre) {
  std::FILE* const stream = temporary_stream();
  ASSERT_NE(stream, nullptr);
  const std::string text = "a\r\nb\nc\x1a d";
  EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), stream), text.size());
  std::rewind(stream);
  std::string back(64, '\0');
  back.resize(std::fread(back.data(), 1, back.size(), stream));
  EXPECT_EQ(back, text);
  std::fclose(stream);
}

}  // namespace
}  // namespace latebind::platform
