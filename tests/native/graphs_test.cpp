// What `native` computes is what the operators mean, on every instruction set that this processor has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support.h"

namespace latebind::native {
namespace {

using core::StatusCode;
using testing::Array;
using testing::EncoderShape;
using testing::Inputs;
using testing::Outcome;

class GraphsTest : public ::testing::TestWithParam<std::string> {
 protected:
  // On so many threads.
  std::unique_ptr<core::Executable> load(core::Result<graph::Graph> graph, unsigned threads) {
    EXPECT_TRUE(graph.ok()) << graph.status().to_string();
    auto loaded = testing::backend(GetParam())->load(testing::model_of(*std::move(graph)), "CPU", {.threads = threads});
    EXPECT_TRUE(loaded.ok()) << loaded.status().to_string();
    return loaded.ok() ? std::move(*loaded) : nullptr;
  }
};

// Of the values at tokens: those at padding are not specified.
void expect_near(const Outcome& outcome, const Array& wanted, const Inputs& inputs, double distance) {
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.to_string();
  ASSERT_EQ(outcome.values.size(), wanted.values.size());
  const bool is_by_token = wanted.shape.size() == 3;
  const auto width = static_cast<std::size_t>(wanted.shape.back());
  for (std::size_t i = 0; i < wanted.values.size(); ++i) {
    if (is_by_token && inputs.at("mask").values[i / width] == 0) continue;
    ASSERT_NEAR(outcome.values[i], wanted.values[i], distance * std::max(1.0, std::abs(wanted.values[i]))) << i;
  }
}

TEST_P(GraphsTest, RandomEncodersAreWhatTheirOperatorsMean) {
  std::mt19937 chance(20261125);
  for (int i = 0; i < 150; ++i) {
    SCOPED_TRACE(i);
    const EncoderShape shape = testing::draw_shape(chance);
    const auto graph = testing::encoder(shape);
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    std::vector<std::int64_t> lengths;
    for (int text = 0; text < 1 + i % 4; ++text)
      lengths.push_back(std::uniform_int_distribution<std::int64_t>(1, 19)(chance));
    const Inputs inputs = testing::draw_batch(chance, lengths, shape.vocabulary, i % 3);
    const auto executable = load(testing::encoder(shape), i % 2 == 0 ? 1 : 3);
    ASSERT_NE(executable, nullptr);
    expect_near(testing::run(*executable, inputs), graph::testing::evaluate(*graph, inputs), inputs, 2e-5);
  }
}

// Around the heights of tiles and the widths of panels.
TEST_P(GraphsTest, EveryNumberOfTokensIsRight) {
  const EncoderShape shape{.hidden = 33, .heads = 3, .intermediate = 47};
  const auto graph = testing::encoder(shape);
  std::mt19937 chance(7);
  const auto alone = load(testing::encoder(shape), 1);
  const auto together = load(testing::encoder(shape), 2);
  for (std::int64_t tokens = 1; tokens <= 62; ++tokens) {
    SCOPED_TRACE(tokens);
    const Inputs inputs = testing::draw_batch(chance, {tokens}, shape.vocabulary);
    const Array wanted = graph::testing::evaluate(*graph, inputs);
    expect_near(testing::run(*alone, inputs), wanted, inputs, 2e-5);
    expect_near(testing::run(*together, inputs), wanted, inputs, 2e-5);
  }
}

TEST_P(GraphsTest, AVectorDoesNotDependOnItsCompany) {
  const EncoderShape shape{.hidden = 48, .heads = 4, .intermediate = 64};
  std::mt19937 chance(11);
  std::vector<std::int64_t> lengths(90);
  for (auto& length : lengths)
    length = std::uniform_int_distribution<std::int64_t>(1, 60)(chance);
  const Inputs inputs = testing::draw_batch(chance, lengths, shape.vocabulary);
  // Many texts for each thread, few that they share, and one by one.
  const Outcome by_one = testing::run(*load(testing::encoder(shape), 1), inputs);
  const auto shared = load(testing::encoder(shape), 2);
  const Outcome by_two = testing::run(*shared, inputs);
  ASSERT_TRUE(by_one.status.ok()) << by_one.status.to_string();
  EXPECT_EQ(by_one.values, by_two.values);
  const auto width = static_cast<std::size_t>(inputs.at("ids").shape[1]);
  for (std::size_t text = 0; text < lengths.size(); text += 7) {
    Inputs one{{"ids", {{1, lengths[text]}, {}}}, {"mask", {{1, lengths[text]}, {}}}};
    for (auto& [name, array] : one) {
      const auto from = inputs.at(name).values.begin() + static_cast<std::ptrdiff_t>(text * width);
      array.values.assign(from, from + lengths[text]);
    }
    const Outcome outcome = testing::run(*shared, one);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status.to_string();
    const auto first = by_one.values.begin() + static_cast<std::ptrdiff_t>(text * 48);
    EXPECT_TRUE(std::equal(outcome.values.begin(), outcome.values.end(), first)) << text;
  }
}

// The mask may keep any tokens, as long as there is one; each has the position that it has in its text.
TEST_P(GraphsTest, TokensLeftOutInTheMiddleCountAsNone) {
  const auto graph = testing::encoder({.hidden = 16, .pooling = graph::PoolingMode::kMean});
  const Inputs inputs{{"ids", {{2, 4}, {5, 9, 2, 7, 1, 3, 8, 6}}}, {"mask", {{2, 4}, {1, 0, 1, 1, 0, 1, 0, 0}}}};
  expect_near(testing::run(*load(testing::encoder({.hidden = 16}), 1), inputs),
              graph::testing::evaluate(*graph, inputs), inputs, 2e-5);
}

TEST_P(GraphsTest, EveryOperatorOfTheSmallGraph) {
  const Inputs inputs = graph::testing::small_batch();
  for (const bool pooled : {true, false}) {
    const graph::testing::SmallGraphOptions options{.pooled = pooled};
    const auto graph = graph::testing::small_graph(options);
    expect_near(testing::run(*load(graph::testing::small_graph(options), 2), inputs),
                graph::testing::evaluate(*graph, inputs), inputs, 2e-5);
  }
}

TEST_P(GraphsTest, NoTextsGiveNoVectors) {
  const Inputs inputs{{"ids", {{0, 4}, {}}}, {"mask", {{0, 4}, {}}}};
  const Outcome outcome = testing::run(*load(testing::encoder({.hidden = 16}), 2), inputs);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.to_string();
  EXPECT_EQ(outcome.shape, (core::Shape{0, 16}));
}

TEST_P(GraphsTest, WhatIsNoTokenIsRefused) {
  const auto executable = load(testing::encoder({.hidden = 16, .positions = 3}), 1);
  const auto refused = [&](std::vector<double> ids, std::vector<double> mask) {
    const auto width = static_cast<std::int64_t>(ids.size());
    return testing::run(*executable, {{"ids", {{1, width}, std::move(ids)}}, {"mask", {{1, width}, std::move(mask)}}})
        .status;
  };
  EXPECT_EQ(refused({50}, {1}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused({-1}, {1}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused({1}, {0}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused({1, 2, 3, 4}, {1, 1, 1, 1}).code(), StatusCode::kShapeMismatch);
  EXPECT_TRUE(refused({1, 50}, {1, 0}).ok());  // padding may be anything
}

INSTANTIATE_TEST_SUITE_P(EverySet, GraphsTest, ::testing::ValuesIn(testing::runnable_sets()),
                         [](const auto& set) { return set.param; });

}  // namespace
}  // namespace latebind::native
