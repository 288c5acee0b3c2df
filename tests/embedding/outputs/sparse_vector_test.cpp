#include "embedding/outputs/sparse_vector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace latebind::embedding {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::IsEmpty;

TEST(SparseVectorTest, OnlyPositiveNumbersHaveAWeight) {
  const std::vector<float> logits{-1, 0, 2, -0.0F, 0.5F};
  SparseVector weights{.indices = {9}, .values = {9}};
  read_sparse(logits, {}, weights);
  EXPECT_THAT(weights.indices, ElementsAre(2, 4));
  EXPECT_THAT(weights.values, ElementsAre(FloatEq(std::log(3.0F)), FloatEq(std::log(1.5F))));
  read_sparse(logits, {.log_twice = true}, weights);
  EXPECT_THAT(weights.values,
              ElementsAre(FloatEq(std::log(1 + std::log(3.0F))), FloatEq(std::log(1 + std::log(1.5F)))));
}

// 1 + x is 1 for it, whose logarithm would be no weight.
TEST(SparseVectorTest, TheSmallestNumberHasAWeight) {
  SparseVector weights;
  read_sparse(std::vector<float>{1e-10F, std::numeric_limits<float>::denorm_min()}, {.log_twice = true}, weights);
  EXPECT_THAT(weights.values, ElementsAre(1e-10F, std::numeric_limits<float>::denorm_min()));
}

TEST(SparseVectorTest, TheLargestStayInTheirOrder) {
  const std::vector<float> logits{1, 5, 1, 3, 1, 4};
  SparseVector weights;
  read_sparse(logits, {.most = 4}, weights);
  EXPECT_THAT(weights.indices, ElementsAre(0, 1, 3, 5));
  keep_largest(weights, 9);
  EXPECT_EQ(weights.indices.size(), 4U);
  keep_largest(weights, 1);
  EXPECT_THAT(weights.indices, ElementsAre(1));
  EXPECT_THAT(weights.values, ElementsAre(FloatEq(std::log(6.0F))));
}

TEST(SparseVectorTest, ASumIsOfTheWeightsOfAllTokens) {
  const std::vector<float> logits{-1, 2, 0, 3, 1, -2};  // of two tokens
  std::vector<float> sums(3, 9);
  SparseVector weights{.indices = {9}, .values = {9}};
  sum_sparse(logits, {}, sums, weights);
  EXPECT_THAT(weights.indices, ElementsAre(0, 1));
  EXPECT_THAT(weights.values, ElementsAre(FloatEq(std::log(4.0F)), FloatEq(std::log(3.0F) + std::log(2.0F))));
  sum_sparse(logits, {.log_twice = true, .sums = true, .most = 1}, sums, weights);
  EXPECT_THAT(weights.indices, ElementsAre(1));
  EXPECT_THAT(weights.values, ElementsAre(FloatEq(std::log(1 + std::log(3.0F)) + std::log(1 + std::log(2.0F)))));
  sum_sparse(std::vector<float>{1, std::numeric_limits<float>::quiet_NaN(), 1}, {.most = 1}, sums, weights);
  EXPECT_TRUE(std::isnan(weights.values[1]));
}

TEST(SparseVectorTest, AProductIsOfWhatBothHave) {
  const SparseVector query{.indices = {1, 3, 7}, .values = {2, 4, 8}};
  EXPECT_EQ(dot(query, {.indices = {0, 3, 7, 9}, .values = {5, 0.5F, 2, 1}}), 18);
  EXPECT_EQ(dot({.indices = {0, 3, 7, 9}, .values = {5, 0.5F, 2, 1}}, query), 18);
  EXPECT_EQ(dot(query, {.indices = {2}, .values = {1}}), 0);
  EXPECT_EQ(dot(query, {}), 0);
}

TEST(SparseVectorTest, WhatIsNoNumberIsNotHidden) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  SparseVector weights;
  read_sparse(std::vector<float>{1, kNan, 2, 3}, {.most = 1}, weights);
  EXPECT_THAT(weights.indices, ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(std::isnan(weights.values[1]));
  read_sparse(std::vector<float>{std::numeric_limits<float>::infinity()}, {}, weights);
  EXPECT_TRUE(std::isinf(weights.values[0]));
  read_sparse({}, {}, weights);
  EXPECT_THAT(weights.indices, IsEmpty());
}

}  // namespace
}  // namespace latebind::embedding
