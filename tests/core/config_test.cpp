#include "core/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/text/nearest_word.h"

namespace latebind::core {
namespace {

using ::testing::HasSubstr;

TEST(WordsTest, EveryWordReadsBackAsItself) {
  for (const auto& word : Words<Precision>::kWords) {
    EXPECT_EQ(*parse_word<Precision>(word.text), word.value);
    EXPECT_EQ(word_of(word.value), word.text);
  }
}

TEST(WordsTest, UnknownWordListsTheKnownAndSuggestsTheNearest) {
  const auto refused = parse_word<Precision>("fp16");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.status().to_string(), HasSubstr("unknown precision 'fp16'"));
  EXPECT_THAT(refused.status().to_string(), HasSubstr("f32, bf16, f16, int8, fast"));
  EXPECT_THAT(refused.status().to_string(), HasSubstr("did you mean"));
}

TEST(WordsTest, SwappedLettersAreOneMistake) {
  const std::string_view known[] = {"auto", "npu", "gpu", "cpu"};
  EXPECT_EQ(nearest_word("nup", known), "npu");
  EXPECT_EQ(nearest_word("quantum", known), "");
  EXPECT_EQ(nearest_word("", known), "");
}

TEST(WordsTest, ABeginningThatAllHaveMakesNothingNear) {
  const std::string_view known[] = {"LATEBIND_HINT", "LATEBIND_MAX_TEXTS", "server.max_body", "openvino:CPU"};
  EXPECT_EQ(nearest_word("LATEBIND_PORT", known), "");
  EXPECT_EQ(nearest_word("LATEBIND_HOST", known), "");
  EXPECT_EQ(nearest_word("server.max_size", known), "");
  EXPECT_EQ(nearest_word("openvino:NPU", known), "openvino:CPU");
  EXPECT_EQ(nearest_word("LATEBIND_MAX_TEXT", known), "LATEBIND_MAX_TEXTS");
  EXPECT_EQ(nearest_word("latebind_hnit", known), "LATEBIND_HINT");
}

TEST(WordsTest, UpperAndLowerCaseAreTheSame) {
  const std::string_view known[] = {"auto", "npu"};
  EXPECT_EQ(nearest_word("NPU", known), "npu");
}

TEST(SupportedInsteadTest, NamesTheNearestAndAllThatThereAre) {
  const std::string_view known[] = {"cls", "mean", "max"};
  EXPECT_EQ(supported_instead("meen", known), "; the nearest supported name is mean; supported are cls, mean and max");
  EXPECT_EQ(supported_instead("attention", known), "; supported are cls, mean and max");
  EXPECT_EQ(supported_instead({}, known), "; supported are cls, mean and max");
  EXPECT_EQ(supported_instead("MAX", known, "`list` has them"), "; the nearest supported name is max; `list` has them");
  EXPECT_EQ(supported_instead("x", std::span(known).first(1)), "; supported is cls");
  EXPECT_EQ(supported_instead(std::string(100000, 'm'), known), "; supported are cls, mean and max");
}

TEST(SupportedInsteadTest, ANameOfTheSameFamilyIsNear) {
  const std::string_view networks[] = {"albert", "bert", "qwen3", "xlm-roberta"};
  EXPECT_EQ(supported_instead("mobilebert", networks, "."), "; the nearest supported name is bert; .");
  EXPECT_EQ(supported_instead("xlm-prophet-large", networks, "."), "; the nearest supported name is xlm-roberta; .");
  EXPECT_EQ(supported_instead("t5", networks, "."), "; .");
  // What all begin or end with says nothing.
  const std::string_view classes[] = {"BertTokenizer", "GPT2Tokenizer", "RobertaTokenizer"};
  EXPECT_EQ(supported_instead("T5Tokenizer", classes, "."), "; .");
  EXPECT_EQ(supported_instead("DebertaV2Tokenizer", classes, "."), "; the nearest supported name is BertTokenizer; .");
  // Nor does the module that a class is in.
  const std::string_view functions[] = {"torch.nn.modules.linear.Identity", "torch.nn.modules.activation.ReLU"};
  EXPECT_EQ(supported_instead("transformers.activations.LeakyReLU", functions, "."),
            "; the nearest supported name is torch.nn.modules.activation.ReLU; .");
  // A word that is the beginning of all others stays one.
  const std::string_view variants[] = {"gelu", "gelu_new"};
  EXPECT_EQ(supported_instead("gleu", variants, "."), "; the nearest supported name is gelu; .");
}

TEST(WordsTest, VeryLongWordsAreCutInTheMessage) {
  const std::string given(100000, 'x');
  EXPECT_LT(parse_word<Precision>(given).status().to_string().size(), 300U);
}

TEST(ParseIntegerTest, TakesWholeNumbersInRangeOnly) {
  EXPECT_EQ(*parse_integer("threads", "8", 0, 100), 8);
  for (const char* bad : {"", "8x", " 8", "+8", "101", "-1", "1e2", "99999999999999999999"}) {
    EXPECT_FALSE(parse_integer("threads", bad, 0, 100).ok()) << bad;
  }
}

}  // namespace
}  // namespace latebind::core
