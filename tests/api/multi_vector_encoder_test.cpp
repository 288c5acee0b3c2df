// Multi-vector encoders through the C interface, on the recorded models of the tests and the backend that is always
// there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "latebind/latebind.h"
#include "latebind/latebind.hpp"
#include "tests/api/recorded_encoder.h"

namespace {

using latebind::Role;
using nlohmann::json;
using ::testing::HasSubstr;

class MultiVectorEncoderInterfaceTest : public latebind::test::RecordedEncoderTest {
 protected:
  MultiVectorEncoderInterfaceTest() : RecordedEncoderTest("multi_vector_encoders") {}
  void SetUp() override {
    RecordedEncoderTest::SetUp();
    encoder = open("bert");
  }

  std::unique_ptr<latebind::MultiVectorEncoder> open(const std::string& name) {
    auto opened = runtime->open_multi_vector_encoder(models + name);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? std::make_unique<latebind::MultiVectorEncoder>(*std::move(opened)) : nullptr;
  }

  static void expect_same(const latebind::MultiVectors& vectors, const json& wanted) {
    ASSERT_EQ(vectors.size(), wanted.size());
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      ASSERT_EQ(vectors[i].size(), wanted[i].size() * vectors.dimension()) << i;
      for (std::size_t at = 0; at < vectors[i].size(); ++at) {
        const auto number = wanted[i][at / vectors.dimension()][at % vectors.dimension()].get<float>();
        EXPECT_NEAR(vectors[i][at], number, 1e-5F) << i << " " << at;
      }
    }
  }

  std::unique_ptr<latebind::MultiVectorEncoder> encoder;
};

TEST_F(MultiVectorEncoderInterfaceTest, GivesTheReferencesVectorsAndScores) {
  for (const std::string name : {"bert", "distilbert", "modernbert"}) {
    SCOPED_TRACE(name);
    encoder = open(name);
    ASSERT_NE(encoder, nullptr);
    auto stats = LB_INIT(lb_encode_stats);
    const auto queries = encoder->encode(views, {.role = Role::kQuery}, {.timeout = std::chrono::minutes(1)}, &stats);
    ASSERT_TRUE(queries.ok()) << queries.status().message();
    expect_same(*queries, expected["queries"][name]);
    EXPECT_EQ(stats.texts, views.size());
    const auto documents = encoder->encode(views, {.role = Role::kDocument});
    ASSERT_TRUE(documents.ok()) << documents.status().message();
    expect_same(*documents, expected["documents"][name]);
    const auto scores = encoder->compare(queries->rows(), documents->rows());
    ASSERT_TRUE(scores.ok()) << scores.status().message();
    ASSERT_EQ(scores->size(), views.size() * views.size());
    for (std::size_t i = 0; i < scores->size(); ++i) {
      const auto wanted = expected["scores"][name][i / views.size()][i % views.size()].get<float>();
      EXPECT_NEAR((*scores)[i], wanted, 1e-5F * std::max(1.0F, std::abs(wanted))) << i;
    }
  }
}

TEST_F(MultiVectorEncoderInterfaceTest, TellsWhatItIs) {
  EXPECT_EQ(encoder->dimension(), 12U);
  EXPECT_EQ(encoder->max_tokens(Role::kQuery), 11U);
  EXPECT_EQ(encoder->max_tokens(Role::kDocument), 12U);
  EXPECT_EQ(encoder->attestation()->backend, "native");
  EXPECT_TRUE(encoder->tokenizer().ok());
  const auto none = encoder->encode({}, {.role = Role::kQuery});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->size(), 0U);
  EXPECT_EQ(none->dimension(), 12U);
  EXPECT_EQ(encoder->compare(none->rows(), none->rows())->size(), 0U);
}

TEST_F(MultiVectorEncoderInterfaceTest, ItsTokenizerGivesTheIdsThatItComputes) {
  const auto tokenizer = encoder->tokenizer();
  const auto of_folder = latebind::Tokenizer::open(models + "bert");
  ASSERT_TRUE(tokenizer.ok() && of_folder.ok());
  for (const Role role : {Role::kQuery, Role::kDocument}) {
    auto stats = LB_INIT(lb_encode_stats);
    ASSERT_TRUE(encoder->encode(views, {.role = role}, {}, &stats).ok());
    for (const latebind::Tokenizer* each : {&*tokenizer, &*of_folder}) {
      const auto list = each->encode_with_offsets(views, {.role = role});
      ASSERT_TRUE(list.ok()) << list.status().message();
      std::size_t tokens = 0;
      EXPECT_EQ(list->prompt(), role == Role::kQuery ? "a " : "the cat ");
      for (std::size_t i = 0; i < list->size(); ++i) {
        tokens += list->ids(i).size();
        ASSERT_EQ(list->offsets(i).size(), list->ids(i).size());
        // A query is filled up with what is nowhere in it.
        if (role == Role::kDocument) continue;
        EXPECT_EQ(list->ids(i).size(), 11U);
        EXPECT_EQ(list->offsets(i).back().end, 0U);
      }
      EXPECT_EQ(tokens, stats.tokens);
    }
  }
  const auto short_ones = tokenizer->encode(views, {.max_tokens = 10, .role = Role::kQuery});
  EXPECT_THAT(short_ones.status().message(), HasSubstr("the model fills queries up to 11"));
}

TEST_F(MultiVectorEncoderInterfaceTest, ACallMayAskForOtherPromptsAndLengths) {
  const auto named = encoder->encode(views, {.prompt_name = "document", .role = Role::kDocument});
  ASSERT_TRUE(named.ok()) << named.status().message();
  expect_same(*named, expected["documents"]["bert"]);
  const auto other = encoder->encode(views, {.prompt = "", .role = Role::kDocument});
  ASSERT_TRUE(other.ok());
  EXPECT_LT((*other)[0].size(), (*named)[0].size());
  // Of a model that leaves vectors as they are.
  const auto plain = open("mpnet");
  ASSERT_NE(plain, nullptr);
  const auto normal = plain->encode(views, {.normalize = true, .role = Role::kDocument});
  ASSERT_TRUE(normal.ok());
  double squares = 0;
  for (const float number : (*normal)[1].first(normal->dimension()))
    squares += static_cast<double>(number) * static_cast<double>(number);
  EXPECT_NEAR(squares, 1, 1e-5);
}

TEST_F(MultiVectorEncoderInterfaceTest, WrongCallsAreRefusedByWhatIsWrong) {
  EXPECT_EQ(encoder->encode(views, {.dimensions = 3, .role = Role::kQuery}).status().code(), LB_INVALID_ARGUMENT);
  const std::string_view bad = "\xff";
  EXPECT_EQ(encoder->encode({&bad, 1}, {.role = Role::kQuery}).status().code(), LB_INVALID_ARGUMENT);
  EXPECT_THAT(encoder->encode(views, {.role = static_cast<Role>(3)}).status().message(), HasSubstr("role is 3"));
  EXPECT_THAT(encoder->encode(views, {.max_tokens = 10, .role = Role::kQuery}).status().message(),
              HasSubstr("the model fills queries up to 11"));
  lb_ragged_rows rows{};
  EXPECT_EQ(lb_encoder_compare(nullptr, &rows, &rows, nullptr, nullptr, 0), LB_INVALID_ARGUMENT);
}

TEST_F(MultiVectorEncoderInterfaceTest, RowsThatAreNoneAreRefusedByWhatIsWrong) {
  const std::vector<float> numbers(36);
  const std::vector<std::size_t> begins{0, 2, 3};
  const lb_ragged_rows good{2, 12, begins.data(), numbers.data()};
  ASSERT_TRUE(encoder->compare(good, good).ok());
  const auto refusal = [&](const lb_ragged_rows& rows) {
    const auto compared = encoder->compare(rows, good);
    EXPECT_EQ(compared.status().code(), LB_INVALID_ARGUMENT);
    return compared.status().message();
  };
  EXPECT_THAT(refusal({2, 11, begins.data(), numbers.data()}),
              HasSubstr("queries have 11 numbers, but the model's have 12"));
  EXPECT_THAT(refusal({2, 12, nullptr, numbers.data()}), HasSubstr("the offsets of queries are NULL"));
  EXPECT_THAT(refusal({2, 12, begins.data(), nullptr}), HasSubstr("vectors of queries are NULL"));
  const std::vector<std::size_t> falling{0, 2, 1};
  EXPECT_THAT(refusal({2, 12, falling.data(), numbers.data()}), HasSubstr("the offsets of queries decrease after 1"));
  const std::vector<std::size_t> late{1, 2, 3};
  EXPECT_THAT(refusal({2, 12, late.data(), numbers.data()}), HasSubstr("do not begin with 0"));
  std::vector<float> scores(3);
  lb_encoder* raw = nullptr;
  EXPECT_EQ(lb_encoder_compare(raw, &good, &good, nullptr, scores.data(), 3), LB_INVALID_ARGUMENT);
  // A text without a vector.
  const std::vector<std::size_t> empty{0, 0};
  const lb_ragged_rows none{1, 12, empty.data(), nullptr};
  EXPECT_EQ(encoder->compare(good, none)->front(), -1e9F);
  EXPECT_EQ(encoder->compare(none, good)->front(), 0.0F);
}

TEST_F(MultiVectorEncoderInterfaceTest, ModelsOfOtherKindsAreRefused) {
  const auto embedder = runtime->open_embedder(models + "bert");
  EXPECT_EQ(embedder.status().code(), LB_UNSUPPORTED);
  EXPECT_THAT(embedder.status().message(), HasSubstr("is a multi-vector encoder"));
  EXPECT_THAT(embedder.status().message(), HasSubstr("opens it as MultiVectorEncoder"));
  const auto late = runtime->open_multi_vector_encoder(std::string(LATEBIND_SOURCE_DIR) + "/tests/data/tiny-bert/f32");
  EXPECT_THAT(late.status().message(), HasSubstr("gives vectors for texts"));
}

}  // namespace
