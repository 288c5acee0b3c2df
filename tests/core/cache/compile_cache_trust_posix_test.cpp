// The compile cache and other users: what they could have written is not used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "core/cache/cached_load.h"
#include "core/log.h"
#include "tests/core/cache_folder.h"
#include "tests/support/scripted_backend.h"

namespace latebind::core {
namespace {

using std::filesystem::path;
using test::blob_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr unsigned kStranger = 54321;

class ExportingBackend : public latebind::test::ScriptedBackend {
 public:
  using ScriptedBackend::ScriptedBackend;
  Result<LoadedModel> load_exporting(const Model& model, std::string_view device,
                                     const CompileOptions& options) override {
    LB_ASSIGN_OR_RETURN(auto executable, load(model, device, options));
    return LoadedModel{std::move(executable), []() -> Result<Blob> { return blob_of("compiled"); }};
  }
};

class CompileCacheTrustTest : public test::CacheFolderTest {
 protected:
  void SetUp() override {
    CacheFolderTest::SetUp();
    backend.with("CPU", DeviceKind::kCpu);
    backend.blobs = true;
    set_log_sink(LogSink::to(keep));
  }
  void TearDown() override { set_log_sink({}); }

  CompileKey key() const { return make_compile_key("digest", "a model", backend.present.front(), {}); }
  static void allow(const path& place, unsigned mode) { ASSERT_EQ(::chmod(place.c_str(), mode), 0); }
  void load_through(CompileCache& cache) { load_through(cache, backend); }
  static void load_through(CompileCache& cache, test::ScriptedBackend& backend) {
    const Model model = Model::from_forms(
        "a model", {ModelForm{.format = ModelFormat::kOpenvinoIr, .graph = SharedBytes::from_string("a graph")}});
    const auto loaded = cached_load(backend, model, backend.present.front(), {}, &cache);
    EXPECT_TRUE(loaded.ok()) << loaded.status().to_string();
    cache.settle();
  }

  ExportingBackend backend{"toy"};
  std::vector<std::string> warnings;

 private:
  std::function<void(LogLevel, std::string_view)> keep = [this](LogLevel level, std::string_view line) {
    if (level == LogLevel::kWarning) warnings.emplace_back(line);
  };
};

TEST_F(CompileCacheTrustTest, AFolderThatEverybodyMayWriteToIsNotUsedAndThatIsSaidOnce) {
  CompileStore store(folder);
  ASSERT_TRUE(store.put(key(), blob_of("planted")).ok());
  allow(folder, 0777);
  EXPECT_EQ(store.check_folder().code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(store.get(key()).status().code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(store.put(key(), blob_of("x")).code(), StatusCode::kPermissionDenied);
  CompileCache cache(folder);
  load_through(cache);
  load_through(cache);
  EXPECT_THAT(warnings,
              ElementsAre(AllOf(HasSubstr("cache of compiled models is not used"), HasSubstr(folder.string()),
                                HasSubstr("every user"), HasSubstr("set LATEBIND_CACHE_FOLDER to another folder"))));
  allow(folder, 0700);
  EXPECT_TRUE(store.get(key()).ok());
}

TEST_F(CompileCacheTrustTest, WhatIsWrongWithTheFolderDoesNotMatterToABackendThatKeepsNothing) {
  std::filesystem::create_directory(folder);
  allow(folder, 0777);
  CompileCache cache(folder);
  test::ScriptedBackend native("native");
  native.with("CPU", DeviceKind::kCpu);
  load_through(cache, native);
  EXPECT_THAT(warnings, ::testing::IsEmpty());
}

TEST_F(CompileCacheTrustTest, NorOneInAFolderThatEverybodyMayWriteTo) {
  const path open = parent->path() / "open";
  std::filesystem::create_directory(open);
  allow(open, 0777);
  CompileCache cache(open / "compiled");
  load_through(cache);
  EXPECT_FALSE(std::filesystem::exists(open / "compiled"));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr(open.string() + "'")));
}

TEST_F(CompileCacheTrustTest, NorOneOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  std::filesystem::create_directory(folder);
  ASSERT_EQ(::chown(folder.c_str(), kStranger, kStranger), 0);
  CompileCache cache(folder);
  load_through(cache);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("belongs to another user")));
}

TEST_F(CompileCacheTrustTest, WhatAnotherUserLeftInTheFolderIsNotTaken) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  CompileStore store(folder);
  ASSERT_TRUE(store.put(key(), blob_of("planted")).ok());
  const path entry = folder / (key().digest + ".blob");
  ASSERT_EQ(::chown(entry.c_str(), kStranger, kStranger), 0);
  EXPECT_EQ(store.get(key()).status().code(), StatusCode::kPermissionDenied);
  ASSERT_TRUE(store.put(key(), blob_of("ours")).ok());
  EXPECT_EQ(test::text_of(*store.get(key())), "ours");

  const path file = parent->path() / "weights";
  std::ofstream(file) << std::string(std::size_t{2} << 20, 'w');
  FileDigests digests(folder / "digests", std::chrono::nanoseconds(0));
  ASSERT_TRUE(digests.compute(file).ok());
  ASSERT_TRUE(digests.known(file).ok());
  ASSERT_EQ(::chown((folder / "digests").c_str(), kStranger, kStranger), 0);
  EXPECT_EQ(digests.known(file).status().code(), StatusCode::kNotFound);
}

TEST_F(CompileCacheTrustTest, WhatIsMadeForItIsForThisUserAlone) {
  const mode_t before = ::umask(0);
  CompileStore store(parent->path() / "a/b/compiled");
  const Status put = store.put(key(), blob_of("x"));
  ::umask(before);
  EXPECT_TRUE(put.ok()) << put.to_string();
  for (const char* made : {"a", "a/b", "a/b/compiled"}) {
    struct stat info {};
    ASSERT_EQ(::stat((parent->path() / made).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0700U) << made;
  }
}

TEST_F(CompileCacheTrustTest, NothingIsRemovedWhereOthersMayWrite) {
  CompileStore store(folder);
  ASSERT_TRUE(store.put(key(), blob_of("kept")).ok());
  allow(folder, 0777);
  EXPECT_EQ(store.clear().status().code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(store.verify().status().code(), StatusCode::kPermissionDenied);
  allow(folder, 0700);
  EXPECT_EQ(store.clear()->entries, 1U);
}

TEST_F(CompileCacheTrustTest, AFolderThatIsNoCacheIsLeftAsItIs) {
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "thesis") << "a year's work";
  CompileStore store(folder);
  EXPECT_EQ(store.clear()->entries, 0U);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  EXPECT_THAT(names, ElementsAre("thesis"));
}

}  // namespace
}  // namespace latebind::core
