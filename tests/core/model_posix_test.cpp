// Models that are linked in ways that lead nowhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/model.h"
#include "core/platform/temporary_folder.h"

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

}  // namespace
}  // namespace latebind::core
