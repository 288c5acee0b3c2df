#include "backends/native/probe.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace latebind::native {
namespace {

TEST(ProbeTest, MeasuresEveryProductOfEverySetThatRunsHere) {
  for (const Kernels* const kernels : all_kernels()) {
    if (!can_run(*kernels)) continue;
    std::vector<ProbedProduct> products{{core::Precision::kF32, &kernels->f32}};
    if (kernels->bf16.multiply != nullptr) products.push_back({core::Precision::kBF16, &kernels->bf16});
    if (kernels->f16.multiply != nullptr) products.push_back({core::Precision::kF16, &kernels->f16});
    if (kernels->int8.multiply != nullptr) products.push_back({core::Precision::kInt8, &kernels->int8});
    // At least once each, however little time there is.
    const auto speeds = probe_products(*kernels, products, std::chrono::milliseconds(0));
    ASSERT_EQ(speeds.size(), products.size()) << kernels->name;
    for (std::size_t i = 0; i < speeds.size(); ++i) {
      EXPECT_EQ(speeds[i].precision, products[i].precision);
      EXPECT_GT(speeds[i].gops, 0) << kernels->name;
    }
  }
}

TEST(ProbeTest, TakesAboutTheTimeThatItIsGiven) {
  const Kernels& portable = *all_kernels().back();
  const std::vector<ProbedProduct> products{{core::Precision::kF32, &portable.f32}};
  const auto start = std::chrono::steady_clock::now();
  static_cast<void>(probe_products(portable, products, std::chrono::milliseconds(20)));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(20));
}

}  // namespace
}  // namespace latebind::native
