// The search on real folders: a library that others could have planted is left out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/platform/files/temporary_folder.h"
#include "core/vendor/vendor_search.h"
#include "tests/support/fake_file_system.h"

namespace latebind::core {
namespace {

using std::filesystem::path;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class VendorFileSystemTest : public ::testing::Test {
 protected:
  path make(const std::string& name, const std::string& text = "") {
    const path file = folder_.path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file;
  }
  [[nodiscard]] SearchList search() const {
    VendorLibrary wanted;
    wanted.stem = "acme_that_nobody_has";
    wanted.package_folder = "acme";
    SearchFacts facts;
    facts.module_folder = module;
    return search_list(wanted, facts, FileSystem::real());
  }

  const platform::TemporaryFolder folder_ = *platform::TemporaryFolder::create("search-test");
  std::string module = (folder_.path() / "tree/dev/bin").string();
};

TEST_F(VendorFileSystemTest, APlantedLibraryIsLeftOut) {
  const path library = make("tree/dev/runtime/libacme_that_nobody_has.so");
  EXPECT_THAT(test::files_of(search()), ElementsAre(library.string()));
  std::filesystem::permissions(library.parent_path(), std::filesystem::perms::all);
  const SearchList list = search();
  EXPECT_THAT(test::files_of(list), IsEmpty());
  EXPECT_TRUE(list.candidates.front().left_out);
  EXPECT_THAT(list.candidates.front().why_not, HasSubstr("is writable by every user"));
  // Ours, among what anybody may put beside it.
  ASSERT_EQ(::chmod(library.parent_path().c_str(), 01777), 0);
  EXPECT_THAT(test::files_of(search()), IsEmpty());
}

TEST_F(VendorFileSystemTest, ABuildTreeIsKnownByWhatCmakeWroteThere) {
  const path library = make("tree/runtime/libacme_that_nobody_has.so");
  EXPECT_THAT(test::files_of(search()), IsEmpty());
  // Through a link, as a checkout may be configured.
  std::filesystem::create_directory_symlink("tree", folder_.path() / "link");
  make("tree/dev/CMakeCache.txt", "CMAKE_PROJECT_NAME:STATIC=latebind\nCMAKE_CACHEFILE_DIR:INTERNAL=" +
                                      (folder_.path() / "link/dev").string() + "\n");
  EXPECT_THAT(test::files_of(search()), ElementsAre(library.string()));
  // One that was copied is not where it says.
  std::filesystem::create_directory(folder_.path() / "copy");
  std::filesystem::copy(folder_.path() / "tree", folder_.path() / "copy", std::filesystem::copy_options::recursive);
  module = (folder_.path() / "copy/dev/bin").string();
  EXPECT_THAT(test::files_of(search()), IsEmpty());
}

}  // namespace
}  // namespace latebind::core
