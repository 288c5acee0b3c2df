// The real model from the compile cache, on both vendors: the same vectors, bit for bit.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/onnxruntime/backend.h"
#include "backends/openvino/backend.h"
#include "core/engine/engine.h"
#include "core/platform/files/temporary_folder.h"
#include "embedding/embedder.h"

namespace latebind::embedding {
namespace {

const std::filesystem::path kCachedModel =
    std::filesystem::path(LATEBIND_SOURCE_DIR) / "build/runtime/model/all-MiniLM-L6-v2";

struct Made {
  std::vector<float> vectors;
  bool from_cache = false;
};

class CachedEmbedderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = platform::TemporaryFolder::create("latebind-cache-test");
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    folder_.emplace(*std::move(made));
    ASSERT_TRUE(registry_.add(openvino::make_backend()).ok());
    ASSERT_TRUE(registry_.add(onnxruntime::make_backend()).ok());
    cache_ = std::make_shared<core::CompileCache>(folder_->path());
  }

  core::Result<Made> embed(std::string_view device, core::Precision precision, bool cached) const {
    EmbedderOptions options;
    options.load.compile.precision = precision;
    if (cached) options.load.cache = cache_;
    LB_ASSIGN_OR_RETURN(const auto embedder, Embedder::open(core::Engine(registry_), kCachedModel,
                                                            *core::Placement::parse(device, registry_), options));
    const std::vector<std::string_view> texts{"A short text.", "", "Another one, which is a little longer than that."};
    Made made;
    made.vectors.resize(texts.size() * embedder->dimension());
    LB_RETURN_IF_ERROR(embedder->embed(texts, made.vectors).status());
    made.from_cache = embedder->attestation()->active.from_cache;
    cache_->settle();
    return made;
  }

  // Uncached, filling, and from the cache.
  void expect_same(std::string_view device, core::Precision precision) const {
    const auto plain = embed(device, precision, false);
    if (!plain.ok() && precision != core::Precision::kF32) return;  // not every processor has bf16
    ASSERT_TRUE(plain.ok()) << plain.status().to_string();
    const auto first = embed(device, precision, true);
    ASSERT_TRUE(first.ok()) << first.status().to_string();
    EXPECT_FALSE(first->from_cache);
    const auto second = embed(device, precision, true);
    ASSERT_TRUE(second.ok()) << second.status().to_string();
    EXPECT_TRUE(second->from_cache);
    EXPECT_EQ(plain->vectors, first->vectors);
    EXPECT_EQ(plain->vectors, second->vectors);
  }

  std::optional<platform::TemporaryFolder> folder_;
  core::Registry registry_;
  std::shared_ptr<core::CompileCache> cache_;
};

TEST_F(CachedEmbedderTest, OpenvinoGivesTheSameVectors) {
  expect_same("openvino:CPU", core::Precision::kF32);
  expect_same("openvino:CPU", core::Precision::kBF16);
}

TEST_F(CachedEmbedderTest, OnnxRuntimeGivesTheSameVectors) {
  expect_same("onnxruntime:CPU", core::Precision::kF32);
}

}  // namespace
}  // namespace latebind::embedding
