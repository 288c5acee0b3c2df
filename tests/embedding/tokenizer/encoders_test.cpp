// The fused encoder gives the ids that the parts give one after the other.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "embedding/tokenizer/fused_bert_encoder.h"
#include "embedding/tokenizer/staged_encoder.h"
#include "embedding/tokenizer/tokenizer_file.h"
#include "recorded.h"
#include "small_tokenizer.h"

namespace latebind::embedding {
namespace {

using Ids = std::vector<std::int32_t>;

TokenizerParts parts_of(std::string_view json) {
  auto file = TokenizerFile::read(json);
  EXPECT_TRUE(file.ok()) << file.status().to_string();
  return std::move(file->parts);
}

// Both stop at the same place, or neither does.
void expect_same(const TextEncoder& fused, const TextEncoder& staged, std::string_view text, std::size_t ids_end) {
  Ids by_fused{-1};
  Ids by_staged{-1};
  EXPECT_EQ(fused.encode(text, true, ids_end, by_fused), staged.encode(text, true, ids_end, by_staged)) << text;
  EXPECT_EQ(by_fused, by_staged) << text;
}

TEST(EncodersTest, AgreeInRecordedTexts) {
  const TokenizerParts parts = parts_of(testing::model_tokenizer_json());
  const auto fused = FusedBertEncoder::create(parts);
  ASSERT_NE(fused, nullptr);
  const StagedEncoder staged(parts, {});
  const auto recorded = testing::recorded_texts();
  for (const auto& [text, ids] : recorded) {
    for (const std::size_t ids_end : {std::size_t{2}, std::size_t{9}, std::numeric_limits<std::size_t>::max()})
      expect_same(*fused, staged, text, ids_end);
  }
  EXPECT_GE(recorded.size(), 2500U);
}

TEST(EncodersTest, AgreeWithAnyOptions) {
  for (unsigned flags = 0; flags < 17; ++flags) {
    const auto flag = [flags](unsigned bit) { return (flags >> bit & 1U) != 0; };
    nlohmann::json file = testing::small_tokenizer();
    file["normalizer"] = {{"type", "BertNormalizer"},
                          {"clean_text", flag(0)},
                          {"handle_chinese_chars", flag(1)},
                          {"strip_accents", flag(2)},
                          {"lowercase", flag(3)}};
    if (flag(4)) file["normalizer"] = nullptr;
    file["model"]["max_input_chars_per_word"] = 5;
    const TokenizerParts parts = parts_of(file.dump());
    const auto fused = FusedBertEncoder::create(parts);
    ASSERT_NE(fused, nullptr);
    const StagedEncoder staged(parts, {});
    for (const auto& [text, ids] : testing::recorded_texts())
      expect_same(*fused, staged, text, std::numeric_limits<std::size_t>::max());
  }
}

}  // namespace
}  // namespace latebind::embedding
