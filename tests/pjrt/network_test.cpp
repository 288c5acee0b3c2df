// Graphs as StableHLO: what is an argument, what is refused, and what is asked of the compiler.
#include "backends/pjrt/stablehlo/network.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/pjrt/constants.h"
#include "backends/pjrt/executable.h"
#include "kit/networks/small_encoder.h"

namespace latebind::pjrt {
namespace {

using core::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<core::Shape> kThreeTexts{{3, 5}, {3, 5}};

graph::Graph graph_of(const kit::SmallGraphOptions& options = {}) {
  auto graph = kit::small_graph(options);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return *std::move(graph);
}

core::Result<Network> written(const kit::SmallGraphOptions& options = {},
                              core::Precision precision = core::Precision::kF32) {
  return write_network(graph_of(options), kThreeTexts, precision);
}

TEST(NetworkTest, HasInputsThenWeightsAsArguments) {
  const auto network = written();
  ASSERT_TRUE(network.ok()) << network.status().to_string();
  ASSERT_EQ(network->inputs.size(), 2U);
  EXPECT_EQ(network->inputs[0].info.name, "ids");
  EXPECT_EQ(network->inputs[0].ids_end, 7);
  EXPECT_TRUE(network->inputs[1].is_mask);
  EXPECT_THAT(network->text, HasSubstr("%arg0: tensor<3x5xi32>, %arg1: tensor<3x5xi32>, %arg2: tensor<"));
  EXPECT_THAT(network->text, HasSubstr(fmt::format("%arg{}: ", network->constants.size() + 1)));
  EXPECT_THAT(network->text, Not(HasSubstr(fmt::format("%arg{}: ", network->constants.size() + 2))));
  ASSERT_EQ(network->outputs.size(), 1U);
  EXPECT_EQ(network->outputs[0].shape, (core::Shape{3, 8}));
}

TEST(NetworkTest, ConstantsAreSingleNumbers) {
  const auto network = written({.farthest = 8, .rotary = true});
  ASSERT_TRUE(network.ok()) << network.status().to_string();
  for (std::size_t at = 0; (at = network->text.find("dense<", at)) != std::string::npos; ++at)
    EXPECT_EQ(network->text.substr(network->text.find(" : ", at), 10), " : tensor<") << at;
  EXPECT_THAT(network->text, Not(HasSubstr("dense<[")));
}

TEST(NetworkTest, AsksForExactProductsInF32Only) {
  const auto exact = written();
  ASSERT_TRUE(exact.ok());
  EXPECT_THAT(exact->text, HasSubstr("precision HIGHEST"));
  EXPECT_THAT(exact->text, Not(HasSubstr("precision DEFAULT")));
  const auto narrow = written({}, core::Precision::kBF16);
  ASSERT_TRUE(narrow.ok());
  EXPECT_THAT(narrow->text, HasSubstr("bf16"));
  EXPECT_THAT(narrow->text, Not(HasSubstr("precision HIGHEST")));
}

TEST(NetworkTest, AreTheSameBytesEachTime) {
  EXPECT_EQ(written()->text, written()->text);
}

TEST(NetworkTest, RefusesWhatItCannotWrite) {
  EXPECT_EQ(written({}, core::Precision::kInt8).status().code(), StatusCode::kUnsupported);
  const graph::Graph graph = graph_of();
  const auto of = [&](const std::vector<core::Shape>& shapes) {
    return write_network(graph, shapes, core::Precision::kF32).status();
  };
  EXPECT_EQ(of({}).code(), StatusCode::kUnsupported);
  EXPECT_EQ(of({{3, 5}}).code(), StatusCode::kCountMismatch);
  EXPECT_EQ(of({{3, 5}, {3, core::kDynamic}}).code(), StatusCode::kShapeMismatch);
  EXPECT_EQ(of({{3, 5}, {3, 5, 1}}).code(), StatusCode::kShapeMismatch);
  EXPECT_EQ(of({{0, 5}, {0, 5}}).code(), StatusCode::kUnsupported);
  EXPECT_EQ(of({{3, 500}, {3, 500}}).code(), StatusCode::kShapeMismatch);
}

TEST(CheckedNumbersTest, RefusesIdsOutsideOfTheTable) {
  NetworkInput ids;
  ids.ids_end = 7;
  const auto checked = [&](std::vector<std::int64_t> numbers, const std::int64_t* mask) {
    return checked_numbers(ids, numbers, mask);
  };
  EXPECT_THAT(*checked({0, 6}, nullptr), ElementsAre(0, 6));
  EXPECT_EQ(checked({0, 7}, nullptr).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(checked({-1, 0}, nullptr).status().code(), StatusCode::kInvalidArgument);
  // At padding, nothing depends on it.
  const std::int64_t mask[] = {1, 0};
  EXPECT_TRUE(checked({6, 7}, mask).ok());
  EXPECT_FALSE(checked({7, 6}, mask).ok());
}

TEST(CheckedNumbersTest, RefusesMasksWithOtherNumbers) {
  const auto of = [](bool may_be_unattended, std::vector<std::int64_t> numbers) {
    NetworkInput mask;
    mask.is_mask = true;
    mask.may_be_unattended = may_be_unattended;
    return checked_numbers(mask, numbers, nullptr).ok();
  };
  EXPECT_TRUE(of(false, {1, 0}));
  EXPECT_FALSE(of(false, {2, 0}));
  EXPECT_FALSE(of(false, {1, -1}));
  EXPECT_TRUE(of(true, {1, -1, 0}));
  EXPECT_FALSE(of(true, {1, -2}));
}

TEST(ConstantsTest, WeightsAreConvertedExactly) {
  for (const core::ElementType type : {core::ElementType::kF16, core::ElementType::kBF16, core::ElementType::kF32}) {
    const graph::Graph graph = graph_of({.weights = type});
    const auto network = write_network(graph, kThreeTexts, core::Precision::kF32);
    ASSERT_TRUE(network.ok());
    for (const NetworkConstant& constant : network->constants) {
      std::vector<std::byte> kept;
      std::size_t count = 1;
      for (const std::int64_t dim : constant.dims)
        count *= static_cast<std::size_t>(dim);
      EXPECT_EQ(bytes_of(constant, graph, kept).size(), count * size_of(constant.element));
    }
  }
}

}  // namespace
}  // namespace latebind::pjrt
