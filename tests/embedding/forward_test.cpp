#include "embedding/forward.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "embedding/inputs/token_table.h"
#include "embedding/outputs/multi_vector.h"
#include "embedding/outputs/token_vectors.h"
#include "tests/embedding/toy_encoder.h"

namespace latebind::embedding {
namespace {

using core::ElementType;
using core::Shape;
using core::StatusCode;
using test::Infos;
using test::kToyDimension;
using test::toy_output;
using test::ToyOutput;
using test::ToyScript;
using ::testing::HasSubstr;

constexpr ToyOutput kPoolMean{.normalize = true};

core::Status bind_status(ToyScript script, const ToyOutput& rule = kPoolMean) {
  return Forward::bind(test::toy_model(script), toy_output(rule)).status();
}

// The texts of a table as a batch, in this order, with rows of `out` for their vectors.
struct RowsOfTexts {
  std::vector<RowTarget> targets{};
  std::vector<TextRow> rows{};

  void add(TextRow row, RowTarget target) {
    rows.push_back(row);
    targets.push_back(target);
  }
  std::span<const TextRow> with_targets() {
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i].targets = {&targets[i], 1};
    return rows;
  }
};
RowsOfTexts rows_of(const TokenTable& table, const std::vector<std::size_t>& texts, float* out) {
  RowsOfTexts batch;
  for (const std::size_t text : texts)
    batch.add({.ids = table.ids(text)}, {.numbers = out + text * kToyDimension});
  return batch;
}

ToyScript spoiled(std::function<void(Infos&, Infos&)> declare) {
  ToyScript script;
  script.declare = std::move(declare);
  return script;
}

// Runs three texts of different lengths as one batch, the last one first.
void expect_right_vectors(ToyScript script, const ToyOutput& rule) {
  const auto tokenizer = test::toy_tokenizer();
  const std::vector<std::string> texts{"a word", "", "some more words here"};
  TokenTable table;
  for (const auto& text : texts)
    ASSERT_TRUE(table.add(tokenizer, {64, 0}, text).ok());
  const auto forward = Forward::bind(test::toy_model(script), toy_output(rule));
  ASSERT_TRUE(forward.ok()) << forward.status().to_string();
  ASSERT_EQ(forward->outputs().front().dimension(), kToyDimension);

  Forward::Scratch scratch;
  std::vector<float> out(texts.size() * kToyDimension);
  auto rows = rows_of(table, {2, 0, 1}, out.data());
  // Twice: buffers of an earlier run must not shine through.
  for (const std::size_t width : {table.lengths()[2] + 3, table.lengths()[2]}) {
    std::fill(out.begin(), out.end(), -7.0F);
    const auto status = forward->run(rows.with_targets(), width, scratch);
    ASSERT_TRUE(status.ok()) << status.to_string();
    for (std::size_t text = 0; text < texts.size(); ++text) {
      const auto ids = table.ids(text);
      const auto expected = test::toy_vector({ids.begin(), ids.end()});
      for (std::size_t d = 0; d < kToyDimension; ++d) {
        EXPECT_NEAR(out[text * kToyDimension + d], expected[d], 1e-6) << text << "," << d;
      }
    }
  }
  // One text alone, which needs no buffer in between.
  std::vector<float> single(kToyDimension * texts.size(), -7.0F);
  ASSERT_TRUE(forward->run(rows_of(table, {0}, single.data()).with_targets(), table.lengths()[0], scratch).ok());
  for (std::size_t d = 0; d < kToyDimension; ++d)
    EXPECT_NEAR(single[d], out[d], 1e-6);
  EXPECT_EQ(single[kToyDimension], -7.0F);
}

TEST(ForwardTest, PoolsTokenVectors) {
  expect_right_vectors({}, kPoolMean);
}

TEST(ForwardTest, TakesVectorsThatTheModelPooled) {
  expect_right_vectors({.pooled = true}, {.pooled = true, .dimension = kToyDimension});
}

// As a device does that normalises in f16.
TEST(ForwardTest, CorrectsTheLengthOfVectorsThatTheModelNormalised) {
  const auto off = [](std::int64_t, float value) { return value * 1.0003F; };
  expect_right_vectors({.pooled = true, .spoil = off}, {.pooled = true, .normalize = true, .dimension = kToyDimension});
}

TEST(ForwardTest, LeavesVectorsOfAModelThatDoesNotNormaliseAsTheyAre) {
  const auto tokenizer = test::toy_tokenizer();
  TokenTable table;
  ASSERT_TRUE(table.add(tokenizer, {64, 0}, "word").ok());
  const auto forward =
      Forward::bind(test::toy_model({.pooled = true, .spoil = [](std::int64_t, float value) { return value * 2; }}),
                    toy_output({.pooled = true, .dimension = kToyDimension}));
  ASSERT_TRUE(forward.ok());
  Forward::Scratch scratch;
  std::vector<float> out(kToyDimension);
  ASSERT_TRUE(forward->run(rows_of(table, {0}, out.data()).with_targets(), table.lengths()[0], scratch).ok());
  const auto ids = table.ids(0);
  const auto expected = test::toy_vector({ids.begin(), ids.end()});
  for (std::size_t d = 0; d < kToyDimension; ++d)
    EXPECT_NEAR(out[d], 2 * expected[d], 1e-6);
}

TEST(ForwardTest, GivesTokenTypesWhereTheModelWantsThem) {
  expect_right_vectors({.wants_token_types = true}, kPoolMean);
}

TEST(ForwardTest, GivesIdsInTheWidthThatTheModelDeclares) {
  expect_right_vectors({.id_type = ElementType::kI32, .wants_token_types = true}, kPoolMean);
}

TEST(ForwardTest, RefusesAnUnknownInputByName) {
  const auto status = bind_status(spoiled([](Infos& in, Infos&) {
    in.push_back({"pixel_values", ElementType::kF32, {1, 3}});
  }));
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.to_string(), HasSubstr("'pixel_values'"));
}

TEST(ForwardTest, RefusesAModelWithoutAttentionMask) {
  const auto status = bind_status(spoiled([](Infos& in, Infos&) { in.erase(in.begin() + 1); }));
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.to_string(), HasSubstr("no input 'attention_mask'; its inputs are: input_ids"));
}

TEST(ForwardTest, RefusesIdsThatAreNotWholeNumbers) {
  const auto status = bind_status(spoiled([](Infos& in, Infos&) { in[0].type = ElementType::kF32; }));
  EXPECT_THAT(status.to_string(), HasSubstr("input_ids has type f32"));
}

TEST(ForwardTest, RefusesFixedInputShapes) {
  const auto status = bind_status(spoiled([](Infos& in, Infos&) { in[1].shape = Shape{1, 128}; }));
  EXPECT_THAT(status.to_string(), HasSubstr("attention_mask has shape [1,128]"));
}

TEST(ForwardTest, RefusesOutputsOfAnotherType) {
  const auto status = bind_status(spoiled([](Infos&, Infos& out) { out[0].type = ElementType::kF16; }));
  EXPECT_THAT(status.to_string(), HasSubstr("output vectors has type f16"));
}

TEST(ForwardTest, RefusesAnOutputOfAnotherLength) {
  auto rule = kPoolMean;
  rule.dimension = 384;
  EXPECT_THAT(bind_status({}, rule).to_string(), HasSubstr("does not give vectors of length 384"));
}

TEST(ForwardTest, RefusesAnOutputOfAnotherRank) {
  auto rule = kPoolMean;
  rule.pooled = true;
  EXPECT_THAT(bind_status({}, rule).to_string(),
              HasSubstr("output vectors has shape [?,?,5]; [batch, size] is needed"));
}

TEST(ForwardTest, RefusesAnOutputThatIsNotThere) {
  auto rule = kPoolMean;
  rule.position = 1;
  EXPECT_THAT(bind_status({}, rule).to_string(), HasSubstr("no output 1; its outputs are: vectors"));
}

TEST(ForwardTest, NamesTheShapeThatCameBackWrong) {
  ToyScript script{.pooled = true};
  script.declare = [](Infos&, Infos& out) { out[0].shape = Shape{core::kDynamic, core::kDynamic}; };
  const auto forward = Forward::bind(test::toy_model(script), toy_output({.pooled = true, .dimension = 7}));
  ASSERT_TRUE(forward.ok()) << forward.status().to_string();
  const auto tokenizer = test::toy_tokenizer();
  TokenTable table;
  ASSERT_TRUE(table.add(tokenizer, {64, 0}, "a").ok());
  ASSERT_TRUE(table.add(tokenizer, {64, 0}, "b").ok());
  Forward::Scratch scratch;
  std::vector<float> out(14);
  const auto status = forward->run(rows_of(table, {0, 1}, out.data()).with_targets(), 3, scratch);
  EXPECT_EQ(status.code(), StatusCode::kShapeMismatch);
  EXPECT_THAT(status.to_string(), HasSubstr("has type f32 and shape [2,5]; expected f32 [2,7]"));
}

TEST(ForwardTest, RowsOfSeveralOwnersGoWhereEachWantsThem) {
  const auto tokenizer = test::toy_tokenizer();
  TokenTable one;
  TokenTable other;
  ASSERT_TRUE(one.add(tokenizer, {64, 0}, "a").ok());
  ASSERT_TRUE(other.add(tokenizer, {64, 0}, "b c d").ok());
  const auto forward = Forward::bind(test::toy_model({}), toy_output(kPoolMean));
  ASSERT_TRUE(forward.ok()) << forward.status().to_string();
  std::vector<float> of_one(kToyDimension);
  std::vector<float> of_other(kToyDimension);
  RowsOfTexts rows;
  rows.add({.ids = other.ids(0)}, {.numbers = of_other.data()});
  rows.add({.ids = one.ids(0)}, {.numbers = of_one.data()});
  Forward::Scratch scratch;
  std::shared_ptr<const core::Attestation> answered_by;
  ASSERT_TRUE(forward->run(rows.with_targets(), 5, scratch, {}, &answered_by).ok());
  EXPECT_EQ(answered_by->active.backend, "toy");
  for (const auto& [table, vector] : {std::pair{&one, &of_one}, {&other, &of_other}}) {
    const auto expected = test::toy_vector({table->ids(0).begin(), table->ids(0).end()});
    for (std::size_t d = 0; d < kToyDimension; ++d)
      EXPECT_NEAR((*vector)[d], expected[d], 1e-6);
  }
}

TEST(ForwardTest, KeepsTheVectorsOfTokens) {
  const auto tokenizer = test::toy_tokenizer();
  TokenTable table;
  for (const char* text : {"a word", "some more words here"})
    ASSERT_TRUE(table.add(tokenizer, {64, 0}, text).ok());
  const auto forward = Forward::bind(test::toy_model({}), {{.output = std::make_shared<const TokenVectorsOutput>()}});
  ASSERT_TRUE(forward.ok()) << forward.status().to_string();
  EXPECT_EQ(forward->outputs().front().dimension(), kToyDimension);

  std::vector<float> out(table.token_count() * kToyDimension, -7.0F);
  RowsOfTexts rows;
  for (std::size_t text = 0; text < table.size(); ++text)
    rows.add({.ids = table.ids(text)}, {.numbers = out.data() + table.tokens_before(text) * kToyDimension});
  Forward::Scratch scratch;
  ASSERT_TRUE(forward->run(rows.with_targets(), table.lengths()[1] + 2, scratch).ok());
  for (std::size_t text = 0; text < table.size(); ++text) {
    const auto ids = table.ids(text);
    for (std::size_t t = 0; t < ids.size(); ++t) {
      for (std::size_t d = 0; d < kToyDimension; ++d) {
        EXPECT_EQ(out[(table.tokens_before(text) + t) * kToyDimension + d], test::toy_state(ids[t], t, d));
      }
    }
  }
}

TEST(ForwardTest, KeepsTheVectorsThatAreWantedInTheirLength) {
  const auto tokenizer = test::toy_tokenizer();
  TokenLimits limits{.max_tokens = 64};
  limits.filter = std::make_shared<const TokenFilter>(TokenFilter{.left_out = {3}});
  TokenTable table;
  for (const char* text : {"a word", "some more words here"})
    ASSERT_TRUE(table.add(tokenizer, limits, text).ok());
  const auto forward = Forward::bind(
      test::toy_model({}),
      {{.output = std::make_shared<const MultiVectorOutput>(MultiVectorOutput::Parameters{.normalize = true})}});
  ASSERT_TRUE(forward.ok()) << forward.status().to_string();
  std::vector<float> out((table.vector_count() + 1) * kToyDimension, -7.0F);
  RowsOfTexts rows;
  for (std::size_t text = 0; text < table.size(); ++text) {
    rows.add({.ids = table.ids(text), .kept = table.kept(text)},
             {.numbers = out.data() + table.vectors_before(text) * kToyDimension});
  }
  Forward::Scratch scratch;
  ASSERT_TRUE(forward->run(rows.with_targets(), table.lengths()[1], scratch).ok());
  std::size_t at = 0;
  for (std::size_t text = 0; text < table.size(); ++text) {
    const auto ids = table.ids(text);
    for (std::size_t t = 0; t < ids.size(); ++t) {
      if (ids[t] == 3) continue;
      double squares = 0;
      for (std::size_t d = 0; d < kToyDimension; ++d)
        squares += std::pow(test::toy_state(ids[t], t, d), 2);
      for (std::size_t d = 0; d < kToyDimension; ++d)
        EXPECT_NEAR(out[at++], test::toy_state(ids[t], t, d) / std::sqrt(squares), 1e-6);
    }
  }
  EXPECT_EQ(at, table.vector_count() * kToyDimension);
  EXPECT_EQ(out[at], -7.0F);
}

// One run serves two outputs from one end of the model, each text those that it wants.
TEST(ForwardTest, SeveralOutputsTakeTheNumbersOfOneRun) {
  const auto tokenizer = test::toy_tokenizer();
  TokenTable table;
  for (const char* text : {"a word", "some more words here"})
    ASSERT_TRUE(table.add(tokenizer, {64, 0}, text).ok());
  auto outputs = toy_output(kPoolMean);
  outputs.push_back({.output = std::make_shared<const TokenVectorsOutput>()});
  const auto forward = Forward::bind(test::toy_model({}), outputs);
  ASSERT_TRUE(forward.ok()) << forward.status().to_string();
  std::vector<float> vectors(table.size() * kToyDimension, -7.0F);
  std::vector<float> states(table.lengths()[1] * kToyDimension, -7.0F);
  std::vector<RowTarget> targets(2 * table.size());
  std::vector<TextRow> rows;
  for (std::size_t text = 0; text < table.size(); ++text) {
    targets[2 * text].numbers = vectors.data() + text * kToyDimension;
    rows.push_back({.ids = table.ids(text), .targets = {&targets[2 * text], 2}});
  }
  targets[3].numbers = states.data();
  Forward::Scratch scratch;
  ASSERT_TRUE(forward->run(rows, table.lengths()[1], scratch).ok());
  for (std::size_t text = 0; text < table.size(); ++text) {
    const auto expected = test::toy_vector({table.ids(text).begin(), table.ids(text).end()});
    for (std::size_t d = 0; d < kToyDimension; ++d)
      EXPECT_NEAR(vectors[text * kToyDimension + d], expected[d], 1e-6);
  }
  for (std::size_t t = 0; t < table.lengths()[1]; ++t) {
    for (std::size_t d = 0; d < kToyDimension; ++d)
      EXPECT_EQ(states[t * kToyDimension + d], test::toy_state(table.ids(1)[t], t, d));
  }
}

// A network of our own is told which tokens nothing attends to; to others they are padding, which they compute.
TEST(ForwardTest, UnattendedTokensAreMarkedWhereTheyMayBe) {
  for (const bool may_be : {true, false}) {
    std::vector<std::int64_t> masks;
    const auto forward = Forward::bind(test::toy_model({.on_mask =
                                                            [&](const core::TensorView& mask) {
                                                              const auto* const numbers =
                                                                  static_cast<const std::int64_t*>(mask.data);
                                                              masks.assign(numbers, numbers + 5);
                                                            }}),
                                       {{.output = std::make_shared<const TokenVectorsOutput>()}}, may_be);
    ASSERT_TRUE(forward.ok()) << forward.status().to_string();
    // The toy takes a word that is masked for a mistake.
    const std::vector<std::int32_t> ids{2, 4, 3, may_be ? 6 : 0};
    std::vector<float> out(ids.size() * kToyDimension);
    const RowTarget target{.numbers = out.data()};
    const TextRow row{.ids = ids, .targets = {&target, 1}, .unattended_from = 3};
    Forward::Scratch scratch;
    ASSERT_TRUE(forward->run({&row, 1}, 5, scratch).ok());
    EXPECT_EQ(masks, (std::vector<std::int64_t>{1, 1, 1, may_be ? -1 : 0, 0}));
  }
}

}  // namespace
}  // namespace latebind::embedding
