#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "latebind/latebind.hpp"

namespace {

using ::testing::ElementsAre;

const std::filesystem::path kSource = LATEBIND_SOURCE_DIR;

TEST(InterfaceRealTest, FixedLengthsAndTheCacheAreOptionsOfTheInterface) {
  const auto runtime = latebind::Runtime::create();
  ASSERT_TRUE(runtime.ok()) << runtime.status().message();
  const auto folder = std::filesystem::path(testing::TempDir()) / "latebind-interface-cache";
  std::filesystem::remove_all(folder);
  latebind::EmbedderOptions options;
  options.load.device = "cpu";
  const auto embed = [&]() -> std::vector<float> {
    const auto embedder = runtime->open_embedder((kSource / "tests/data/tiny-bert/f32").string(), options);
    EXPECT_TRUE(embedder.ok()) << embedder.status().message();
    if (!embedder) return {};
    const std::vector<std::string_view> texts{"a man", "the cat sat on the mat"};
    const auto vectors = embedder->embed(texts);
    EXPECT_TRUE(vectors.ok()) << vectors.status().message();
    const auto attestation = embedder->attestation();
    EXPECT_TRUE(attestation.ok());
    if (options.shapes == "static" && attestation) {
      EXPECT_THAT(attestation->fixed_lengths, ElementsAre(8, 20));  // cut at the model's limit
      EXPECT_EQ(attestation->fixed_rows, 2U);
    }
    return vectors ? *vectors : std::vector<float>{};
  };
  const auto dynamic = embed();
  options.shapes = "static";
  options.fixed_lengths = {8};
  options.fixed_rows = 2;
  options.load.cache_folder = folder.string();
  const auto fixed = embed();
  const auto again = embed();
  ASSERT_EQ(fixed.size(), dynamic.size());
  for (std::size_t i = 0; i < fixed.size(); ++i)
    EXPECT_NEAR(fixed[i], dynamic[i], 1e-5);
  EXPECT_EQ(again, fixed);
  EXPECT_FALSE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

}  // namespace
