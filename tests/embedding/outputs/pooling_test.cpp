#include "embedding/outputs/pooling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace latebind::embedding {
namespace {

const std::vector<float> kStates{1, -2, 3,  //
                                 5, -8, 0,  //
                                 3, -5, 3};

std::vector<float> pooled(PoolingMode mode, const std::vector<float>& states = kStates, std::size_t dimension = 3) {
  std::vector<float> out(dimension, 99.0F);
  pool(mode, states, out);
  return out;
}

TEST(PoolingTest, ClsTakesTheFirstToken) {
  EXPECT_EQ(pooled(PoolingMode::kCls), (std::vector<float>{1, -2, 3}));
}

TEST(PoolingTest, LastTokenTakesTheLastRealToken) {
  EXPECT_EQ(pooled(PoolingMode::kLastToken), (std::vector<float>{3, -5, 3}));
}

TEST(PoolingTest, MaxTakesTheLargestOfEachComponent) {
  EXPECT_EQ(pooled(PoolingMode::kMax), (std::vector<float>{5, -2, 3}));
}

TEST(PoolingTest, MeanDividesByTheRealTokens) {
  EXPECT_EQ(pooled(PoolingMode::kMean), (std::vector<float>{3, -5, 2}));
}

TEST(PoolingTest, OtherMeansDivideByOtherCounts) {
  const std::vector<float> four{1, 2, 3, 6};
  EXPECT_EQ(pooled(PoolingMode::kMeanSqrt, four, 1), (std::vector<float>{6}));
  EXPECT_EQ(pooled(PoolingMode::kWeightedMean, four, 1), (std::vector<float>{3.8F}));
}

TEST(PoolingTest, TokensAtTheFrontMayBeLeftOutAndKeepTheirPlaces) {
  const auto from_one = [](PoolingMode mode, const std::vector<float>& states) {
    std::vector<float> out(1, 99.0F);
    pool(mode, states, out, 1);
    return out.front();
  };
  const std::vector<float> four{8, 2, 4, 6};
  EXPECT_EQ(from_one(PoolingMode::kCls, four), 2);
  EXPECT_EQ(from_one(PoolingMode::kLastToken, four), 6);
  EXPECT_EQ(from_one(PoolingMode::kMax, four), 6);
  EXPECT_EQ(from_one(PoolingMode::kMean, four), 4);
  EXPECT_EQ(from_one(PoolingMode::kMeanSqrt, four), 12 / std::sqrt(3.0F));
  EXPECT_EQ(from_one(PoolingMode::kWeightedMean, four), (2 * 2 + 4 * 3 + 6 * 4) / 9.0F);
}

TEST(PoolingTest, OneTokenIsItsOwnPool) {
  for (const auto mode : {PoolingMode::kCls, PoolingMode::kMean, PoolingMode::kMax, PoolingMode::kLastToken,
                          PoolingMode::kMeanSqrt, PoolingMode::kWeightedMean}) {
    EXPECT_EQ(pooled(mode, {7, -1, 0.5F}), (std::vector<float>{7, -1, 0.5F}));
  }
}

TEST(PoolingTest, NormalizedVectorsHaveLengthOneAndTheirDirection) {
  std::mt19937 random(3);
  std::normal_distribution<float> component;
  for (const std::size_t dimension : {1U, 2U, 15U, 16U, 17U, 384U, 1023U}) {
    std::vector<float> vector(dimension);
    for (float& value : vector)
      value = component(random);
    const std::vector<float> before = vector;
    normalize(vector);
    double length = 0;
    double dot = 0;
    double before_length = 0;
    for (std::size_t i = 0; i < dimension; ++i) {
      length += static_cast<double>(vector[i]) * static_cast<double>(vector[i]);
      dot += static_cast<double>(vector[i]) * static_cast<double>(before[i]);
      before_length += static_cast<double>(before[i]) * static_cast<double>(before[i]);
    }
    EXPECT_NEAR(length, 1.0, 1e-6) << dimension;
    EXPECT_NEAR(dot / std::sqrt(before_length), 1.0, 1e-6) << dimension;
  }
}

TEST(PoolingTest, WhatIsNoNumberIsSeenWhereverItStands) {
  for (const std::size_t dimension : {1U, 3U, 16U, 37U}) {
    std::vector<float> vector(dimension, std::numeric_limits<float>::max());
    EXPECT_TRUE(is_finite(vector));
    for (std::size_t i = 0; i < dimension; ++i) {
      for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN()}) {
        const float good = std::exchange(vector[i], bad);
        EXPECT_FALSE(is_finite(vector)) << dimension << "," << i;
        vector[i] = good;
      }
    }
  }
  EXPECT_TRUE(is_finite({}));
}

TEST(PoolingTest, NoModeHidesWhatIsNoNumber) {
  const float bad = std::numeric_limits<float>::quiet_NaN();
  for (const PoolingMode mode : {PoolingMode::kMean, PoolingMode::kMax}) {
    for (std::size_t token = 0; token < 3; ++token) {
      std::vector<float> states{1, 2, 3};
      states[token] = bad;
      std::vector<float> out(1);
      pool(mode, states, out);
      EXPECT_FALSE(is_finite(out)) << token;
    }
  }
}

TEST(PoolingTest, TheZeroVectorStaysZero) {
  std::vector<float> vector(20, 0.0F);
  normalize(vector);
  EXPECT_EQ(vector, std::vector<float>(20, 0.0F));
}

double length_of(const std::vector<float>& vector) {
  double sum = 0;
  for (const float value : vector)
    sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

TEST(PoolingTest, ALengthThatIsNotQuiteOneIsCorrected) {
  std::minstd_rand random(7);
  std::uniform_real_distribution<float> component(-1, 1);
  for (const std::size_t dimension : {1U, 5U, 384U, 4096U}) {
    for (const float off : {0.9996F, 1.0003F, 0.99999F, 1.5F}) {
      std::vector<float> vector(dimension);
      for (float& value : vector)
        value = component(random);
      normalize(vector);
      for (float& value : vector)
        value *= off;
      correct_length(vector);
      EXPECT_NEAR(length_of(vector), 1, 1e-6) << dimension << " " << off;
    }
  }
}

TEST(PoolingTest, ALengthThatIsRightKeepsItsBits) {
  std::vector<float> vector{0.6F, 0.8F, 0.0F};
  const std::vector<float> before = vector;
  correct_length(vector);
  EXPECT_EQ(vector, before);
}

TEST(PoolingTest, WhatHasNoLengthStaysAsItIs) {
  std::vector<float> zero(20, 0.0F);
  correct_length(zero);
  EXPECT_EQ(zero, std::vector<float>(20, 0.0F));
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  std::vector<float> infinite{1.0F, kInfinite};
  correct_length(infinite);
  EXPECT_EQ(infinite, (std::vector<float>{1.0F, kInfinite}));
  std::vector<float> none{2.0F, std::numeric_limits<float>::quiet_NaN()};
  correct_length(none);
  EXPECT_EQ(none[0], 2.0F);
  EXPECT_TRUE(std::isnan(none[1]));
}

TEST(PoolingTest, AVectorShorterThanTheLeastNormIsDividedByThat) {
  std::vector<float> vector{1e-13F, 0.0F};
  normalize(vector);
  EXPECT_NEAR(vector[0], 0.1F, 1e-6);
}

}  // namespace
}  // namespace latebind::embedding
