// Through the compile cache, with the real vendors: the same numbers bit for bit, and compiled again whatever is wrong.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/cache/cached_load.h"
#include "core/platform/files/temporary_folder.h"
#include "tests/conformance/conformance.h"

namespace latebind::test {
namespace {

using core::CompileOptions;
using core::Precision;

// A matrix product, in which the precision shows.
core::Model cached_model() {
  OnnxBuilder builder;
  const std::vector<float> weights(64 * 64, 1.0F / 3);
  builder.input("x", ElementType::kF32, {"n", 64})
      .output("y", ElementType::kF32, {"n", 64})
      .constant("w", ElementType::kF32, {64, 64}, std::span(weights))
      .node("MatMul", {"x", "w"}, {"y"});
  return builder.model();
}

class CachedProduct {
 public:
  CachedProduct(std::shared_ptr<core::Backend> backend, const std::string& device) : backend_(std::move(backend)) {
    prepare(device);
  }

  // What the product is, and whether it was computed by a compiled model from the cache.
  std::pair<std::vector<float>, bool> run_once(const CompileOptions& options, std::int64_t rows = 2) {
    auto loaded = core::cached_load(*backend_, model_, device_, options, &*cache_);
    EXPECT_OK(loaded.status());
    cache_->settle();
    if (!loaded.ok()) return {};
    const auto count = static_cast<std::size_t>(rows * 64);
    Tensor<float> input{Shape{rows, 64}, std::vector<float>(count, 1.0F / 7)};
    OutputTensor output;
    EXPECT_OK(run(**loaded, input.view(ElementType::kF32), output));
    EXPECT_EQ((*loaded)->active().precision, options.precision);
    return {values_of<float>(output), (*loaded)->active().from_cache};
  }
  core::CompileKey key(const CompileOptions& options) {
    return core::make_compile_key(*model_.digest(), model_.name(), device_, options);
  }

  [[nodiscard]] core::CompileStore& store() { return *cache_->store(); }
  [[nodiscard]] const core::Model& model() const { return model_; }

 private:
  void prepare(const std::string& device_name) {
    auto made = platform::TemporaryFolder::create("latebind-cache-test");
    ASSERT_OK(made.status());
    folder_.emplace(*std::move(made));
    cache_.emplace(folder_->path());
    const auto devices = backend_->devices();
    ASSERT_OK(devices.status());
    for (const core::Device& device : *devices)
      if (device.name == device_name) device_ = device;
  }

  std::shared_ptr<core::Backend> backend_;
  std::optional<platform::TemporaryFolder> folder_;
  std::optional<core::CompileCache> cache_;
  core::Device device_;
  core::Model model_ = cached_model();
};

TEST_P(ConformanceTest, WhatComesFromTheCacheComputesTheSame) {
  CachedProduct cached(backend_, GetParam().device);
  for (const auto precision : {Precision::kF32, Precision::kBF16, Precision::kF32}) {
    const CompileOptions options{.precision = precision};
    if (const auto direct = try_load(cached.model(), options); !direct.ok() && precision != Precision::kF32) continue;
    const auto first = cached.run_once(options);
    const auto second = cached.run_once(options);
    EXPECT_TRUE(second.second);
    EXPECT_EQ(first.first, second.first);
  }
}

TEST_P(ConformanceTest, TheCacheKeepsStaticShapes) {
  CachedProduct cached(backend_, GetParam().device);
  const CompileOptions options{.input_shapes = {Shape{3, 64}}};
  const auto first = cached.run_once(options, 3);
  EXPECT_FALSE(first.second);
  const auto second = cached.run_once(options, 3);
  EXPECT_TRUE(second.second);
  EXPECT_EQ(first.first, second.first);
  EXPECT_FALSE(cached.run_once({}).second) << "a dynamic one is another model";
}

TEST_P(ConformanceTest, WhatTheVendorRefusesFromTheCacheIsCompiledAgain) {
  CachedProduct cached(backend_, GetParam().device);
  const auto first = cached.run_once({});
  auto blob = cached.store().get(cached.key({}));
  ASSERT_OK(blob.status());
  std::string bytes(reinterpret_cast<const char*>(blob->bytes.bytes.data()), blob->bytes.bytes.size());
  std::string bad = "no blob of this vendor";
  // As if another version had made it, where the version can be found.
  if (const auto at = bytes.find("ov=20"); at != std::string::npos) {
    bad = bytes;
    bad[at + 4] = '9';
  }
  blob->bytes = core::SharedBytes::from_string(bad);
  ASSERT_OK(cached.store().put(cached.key({}), *blob));
  const auto again = cached.run_once({});
  EXPECT_FALSE(again.second);
  EXPECT_EQ(again.first, first.first);
  const auto third = cached.run_once({});
  EXPECT_TRUE(third.second) << "the bad one was replaced";
  EXPECT_EQ(third.first, first.first);
}

}  // namespace
}  // namespace latebind::test
