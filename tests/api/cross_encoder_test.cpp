// Cross-encoders through the C interface, on the recorded models of the tests and the backend that is always there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "latebind/latebind.h"
#include "latebind/latebind.hpp"
#include "tests/api/encode.h"
#include "tests/api/last_error.h"

namespace {

using latebind::test::dimension_of;
using latebind::test::encode_pairs_into;
using latebind::test::last_message;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kData = std::string(LATEBIND_SOURCE_DIR) + "/tests/data/";

std::string model_folder(const std::string& name) {
  return kData + "cross_encoders/" + name;
}

class CrossEncoderInterfaceTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::ifstream file(kData + "cross_encoders/expected.json");
    expected_ = std::make_unique<json>(json::parse(file));
  }
  static void TearDownTestSuite() { expected_.reset(); }

  void SetUp() override {
    auto made = latebind::Runtime::create({{"device", "native"}, {"precision", "f32"}});
    ASSERT_TRUE(made.ok()) << made.status().message();
    runtime = std::make_unique<latebind::Runtime>(*std::move(made));
  }
  void TearDown() override { lb_encoder_destroy(model); }

  void open(const std::string& name) {
    ASSERT_EQ(lb_encoder_open(runtime->get(), model_folder(name).c_str(), nullptr, nullptr, nullptr, &model), LB_OK)
        << last_message();
    for (const json& pair : (*expected_)["pairs"])
      texts.emplace_back(pair[0].get<std::string>(), pair[1].get<std::string>());
    for (const auto& [first, second] : texts)
      pairs.push_back({{first.data(), first.size()}, {second.data(), second.size()}});
  }

  lb_code score(const lb_encode_options* options = nullptr, const lb_call_options* call = nullptr,
                lb_encode_stats* stats = nullptr) {
    scores.assign(pairs.size() * dimension_of(model), -7.0F);
    return encode_pairs_into(scores, model, pairs.data(), pairs.size(), options, call, stats);
  }

  static inline std::unique_ptr<json> expected_;
  std::unique_ptr<latebind::Runtime> runtime;
  lb_encoder* model = nullptr;
  std::vector<std::pair<std::string, std::string>> texts;
  std::vector<lb_text_pair> pairs;
  std::vector<float> scores;
};

TEST_F(CrossEncoderInterfaceTest, ScoresAreTheReferencesOnesOrTheNetworksNumbers) {
  open("bert");
  EXPECT_EQ(dimension_of(model), 1U);
  lb_attestation* answered_by = nullptr;
  auto call = LB_INIT(lb_call_options);
  call.answered_by = &answered_by;
  auto stats = LB_INIT(lb_encode_stats);
  ASSERT_EQ(score(nullptr, &call, &stats), LB_OK) << last_message();
  for (std::size_t i = 0; i < scores.size(); ++i)
    EXPECT_NEAR(scores[i], (*expected_)["scores"]["bert"][i][0].get<float>(), 1e-5F) << i;
  EXPECT_EQ(stats.texts, pairs.size());
  EXPECT_GT(stats.truncated_texts, 0U);
  auto active = LB_INIT(lb_active);
  ASSERT_EQ(lb_attestation_get(answered_by, &active), LB_OK);
  EXPECT_STREQ(active.backend, "native");
  lb_attestation_destroy(answered_by);

  auto options = LB_INIT(lb_encode_options);
  options.raw_scores = 1;
  ASSERT_EQ(score(&options), LB_OK) << last_message();
  for (std::size_t i = 0; i < scores.size(); ++i)
    EXPECT_NEAR(scores[i], (*expected_)["logits"]["bert"][i][0].get<float>(), 1e-5F) << i;

  lb_attestation* now = nullptr;
  ASSERT_EQ(lb_encoder_attestation(model, &now), LB_OK);
  lb_attestation_destroy(now);
}

TEST_F(CrossEncoderInterfaceTest, EveryLabelHasANameAndAScore) {
  open("roberta");
  const auto cpp = runtime->open_cross_encoder(model_folder("roberta"));
  ASSERT_TRUE(cpp.ok()) << cpp.status().message();
  EXPECT_THAT(cpp->labels(), ElementsAre("contradiction", "entailment", "neutral"));
  lb_text label{};
  EXPECT_EQ(lb_encoder_label(model, 3, &label), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("there is no label 3; the model has 3"));
  ASSERT_EQ(score(), LB_OK) << last_message();
  std::vector<latebind::TextPair> views;
  for (const auto& [first, second] : texts)
    views.push_back({first, second});
  const auto scored = cpp->score(views);
  ASSERT_TRUE(scored.ok()) << scored.status().message();
  ASSERT_EQ(scored->size(), pairs.size() * 3);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    EXPECT_NEAR((*scored)[i], scores[i], 1e-6F);
    EXPECT_NEAR(scores[i], (*expected_)["scores"]["roberta"][i / 3][i % 3].get<float>(), 1e-5F) << i;
  }
  EXPECT_EQ(cpp->attestation()->backend, "native");
}

TEST_F(CrossEncoderInterfaceTest, WrongCallsAreRefusedByWhatIsWrong) {
  open("bert");
  auto options = LB_INIT(lb_encode_options);
  options.max_tokens = 5;
  options.refuse_longer = 1;
  EXPECT_EQ(score(&options), LB_TEXT_TOO_LONG);
  EXPECT_THAT(last_message(), HasSubstr("pairs[0]"));
  options = LB_INIT(lb_encode_options);
  options.reserved_ = 1;
  EXPECT_EQ(score(&options), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("reserved"));
  EXPECT_EQ(encode_pairs_into({scores.data(), 1}, model, pairs.data(), 2), LB_BUFFER_TOO_SMALL);
  EXPECT_EQ(encode_pairs_into({scores.data(), 2}, model, nullptr, 2), LB_INVALID_ARGUMENT);
  EXPECT_EQ(encode_pairs_into({scores.data(), 2}, nullptr, pairs.data(), 2), LB_INVALID_ARGUMENT);
  EXPECT_EQ(encode_pairs_into({}, model, nullptr, 0), LB_OK) << last_message();
  pairs[1].second = {nullptr, 3};
  EXPECT_EQ(score(), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("lb_encoder_encode_pairs: pair 1 is NULL"));
  pairs[1].second = {"\xff", 1};
  EXPECT_EQ(score(), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("pairs[1]"));
  lb_attestation* none = nullptr;
  EXPECT_EQ(lb_encoder_attestation(nullptr, &none), LB_INVALID_ARGUMENT);
  EXPECT_EQ(dimension_of(nullptr), 0U);
  lb_encoder_destroy(nullptr);
}

TEST_F(CrossEncoderInterfaceTest, ModelsOfTheOtherKindAreRefusedWithTheCommandForThem) {
  const auto embedder = runtime->open_embedder(model_folder("bert"));
  EXPECT_EQ(embedder.status().code(), LB_UNSUPPORTED);
  EXPECT_THAT(embedder.status().message(), HasSubstr("has no output 'dense'; its outputs are: score"));
  EXPECT_THAT(embedder.status().message(), HasSubstr("is a cross-encoder"));
  EXPECT_THAT(embedder.status().message(), HasSubstr("opens it as CrossEncoder"));
  const auto scorer = runtime->open_cross_encoder(kData + "tiny-bert/f32");
  EXPECT_EQ(scorer.status().code(), LB_UNSUPPORTED);
  EXPECT_THAT(scorer.status().message(), HasSubstr("`latebind embed`"));
}

}  // namespace
