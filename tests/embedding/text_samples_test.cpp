#include "embedding/text_samples.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

namespace latebind::embedding {
namespace {

using core::ElementType;
using core::TensorInfo;

constexpr std::size_t kMaxTokens = 24;

std::vector<core::Sample> samples_of(bool pooled, ElementType type = ElementType::kI64) {
  const auto folder =
      ModelFolder::open(std::filesystem::path(LATEBIND_SOURCE_DIR) / "tests" / "data" / "tiny-bert" / "f32");
  EXPECT_TRUE(folder.ok()) << folder.status().to_string();
  const std::vector<TensorInfo> inputs{{"input_ids", type, {core::kDynamic, core::kDynamic}},
                                       {"attention_mask", type, {core::kDynamic, core::kDynamic}}};
  auto samples = text_samples(folder->documents(), kMaxTokens, pooled)(inputs);
  EXPECT_TRUE(samples.ok()) << samples.status().to_string();
  return *std::move(samples);
}

TEST(TextSamplesTest, HasAFewDozenSentences) {
  EXPECT_GE(sample_texts().size(), 24U);
  const std::set<std::string_view> distinct(sample_texts().begin(), sample_texts().end());
  EXPECT_EQ(distinct.size(), sample_texts().size());
}

TEST(TextSamplesTest, OfPooledOutputsTextsOfSeveralLengthsMakeABatchWithAMask) {
  bool has_padding = false;
  std::int64_t rows = 0;
  for (const core::Sample& sample : samples_of(true)) {
    const auto& shape = sample.inputs[0].shape;
    ASSERT_EQ(shape, sample.inputs[1].shape);
    EXPECT_LE(shape[1], static_cast<std::int64_t>(kMaxTokens));
    rows += shape[0];
    const auto* ids = static_cast<const std::int64_t*>(sample.inputs[0].data);
    const auto* mask = static_cast<const std::int64_t*>(sample.inputs[1].data);
    for (std::int64_t i = 0; i < shape[0] * shape[1]; ++i) {
      ASSERT_TRUE(mask[i] == 0 || mask[i] == 1);
      EXPECT_TRUE(mask[i] == 1 || ids[i] == 0);
      has_padding = has_padding || mask[i] == 0;
    }
    EXPECT_EQ(mask[0], 1);
  }
  EXPECT_TRUE(has_padding);
  EXPECT_GE(rows, 30);
}

TEST(TextSamplesTest, OfTokenVectorsNothingIsPadded) {
  for (const core::Sample& sample : samples_of(false)) {
    const auto& shape = sample.inputs[1].shape;
    const auto* mask = static_cast<const std::int64_t*>(sample.inputs[1].data);
    for (std::int64_t i = 0; i < shape[0] * shape[1]; ++i)
      EXPECT_EQ(mask[i], 1);
  }
}

TEST(TextSamplesTest, NarrowIdsAreTheSame) {
  const auto wide = samples_of(true);
  const auto narrow = samples_of(true, ElementType::kI32);
  ASSERT_EQ(wide.size(), narrow.size());
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const auto& shape = wide[i].inputs[0].shape;
    ASSERT_EQ(shape, narrow[i].inputs[0].shape);
    for (std::int64_t at = 0; at < shape[0] * shape[1]; ++at) {
      EXPECT_EQ(static_cast<const std::int64_t*>(wide[i].inputs[0].data)[at],
                static_cast<const std::int32_t*>(narrow[i].inputs[0].data)[at]);
    }
  }
}

}  // namespace
}  // namespace latebind::embedding
