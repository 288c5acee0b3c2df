#include "embedding/outputs/max_sim.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace latebind::embedding {
namespace {

TEST(MaxSimTest, SumsTheLargestProductOfEachOfTheQuerysVectors) {
  const std::vector<float> query{1, 0, 0, 2};
  const std::vector<float> document{3, 1, -1, 4, 2, 2};
  EXPECT_EQ(max_sim(query, document, 2), 3.0F + 8.0F);
  EXPECT_EQ(mean_max_sim(query, document, 2), 5.5F);
  // Also where all are below zero.
  EXPECT_EQ(max_sim(std::vector<float>{-1, 0}, std::vector<float>{3, 1, 2, 2}, 2), -2.0F);
}

TEST(MaxSimTest, NothingHasTheReferencesScores) {
  const std::vector<float> some{1, 2};
  EXPECT_EQ(max_sim(some, {}, 2), kNoDocument);
  EXPECT_EQ(mean_max_sim({}, {}, 2), kNoDocument);
  EXPECT_EQ(max_sim({}, some, 2), 0.0F);
  EXPECT_EQ(mean_max_sim({}, some, 2), 0.0F);
}

TEST(MaxSimTest, EveryNumberOfVectorsAndNumbersIsRight) {
  std::mt19937 chance(5);
  std::normal_distribution<float> number;
  for (const std::size_t dimension : {1U, 2U, 15U, 16U, 17U, 48U, 96U, 130U}) {
    for (const std::size_t queries : {1U, 3U, 4U, 5U, 32U}) {
      for (const std::size_t documents : {1U, 2U, 7U}) {
        std::vector<float> query(queries * dimension);
        std::vector<float> document(documents * dimension);
        std::ranges::generate(query, [&] { return number(chance); });
        std::ranges::generate(document, [&] { return number(chance); });
        double wanted = 0;
        for (std::size_t q = 0; q < queries; ++q) {
          double largest = -std::numeric_limits<double>::infinity();
          for (std::size_t d = 0; d < documents; ++d) {
            double product = 0;
            for (std::size_t i = 0; i < dimension; ++i)
              product +=
                  static_cast<double>(query[q * dimension + i]) * static_cast<double>(document[d * dimension + i]);
            largest = std::max(largest, product);
          }
          wanted += largest;
        }
        EXPECT_NEAR(max_sim(query, document, dimension), wanted, 1e-5 * (1 + std::abs(wanted)))
            << queries << " x " << documents << " x " << dimension;
      }
    }
  }
}

TEST(MaxSimTest, AProductThatIsNotFiniteShowsWhereverItIs) {
  constexpr std::size_t kNumbers = 20;
  constexpr std::size_t kVectors = 5;
  for (const float odd : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (std::size_t at = 0; at < kVectors * kNumbers; at += 7) {
      std::vector<float> query(kVectors * kNumbers, 1.0F);
      const std::vector<float> document(3 * kNumbers, 0.5F);
      query[at] = odd;
      EXPECT_TRUE(std::isnan(max_sim(query, document, kNumbers))) << at;
      EXPECT_TRUE(std::isnan(max_sim(document, query, kNumbers))) << at;
    }
  }
}

}  // namespace
}  // namespace latebind::embedding
