// Memory that gives out while a model is packed or computed: an error, from which everything works again. A thread of
// the team has nobody to tell, so that there nothing may ask for memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backends/native/memory/weights.h"
#include "tests/native/support.h"
#include "tests/support/failing_new.h"

namespace latebind::native {
namespace {

using test::Refusal;
using test::refuse_allocation;
using test::Spared;
using test::stop_refusing;

// Also in precisions that this processor does not compute in: what is packed is made without their instructions.
TEST(NativeMemoryGivesOutTest, PackingAPanelNeedsNone) {
  constexpr std::int64_t kWidest = 40;
  constexpr std::int64_t kLongest = 200;
  kit::PatternWeights weights;
  const graph::Weight table = weights.add("table", core::ElementType::kF32, {9, kLongest});
  const graph::Weight weight = weights.add("weight", core::ElementType::kF16, {kWidest, kLongest});
  graph::GraphBuilder builder(weights.part());
  const auto ids = builder.add(graph::Input{"ids", core::ElementType::kI64, {core::kDynamic, core::kDynamic}});
  const auto x = builder.add(graph::Lookup{table, ids});
  const auto y = builder.add(graph::Linear{.x = x, .weight = weight});
  const auto graph = std::move(builder).finish(y, "tokens");
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  std::size_t products = 0;
  for (const Kernels* const kernels : all_kernels()) {
    for (const Product* const product : {&kernels->f32, &kernels->bf16, &kernels->f16, &kernels->int8}) {
      if (!product->is_there()) continue;
      ++products;
      SCOPED_TRACE(std::string(kernels->name) + ", format " + std::to_string(static_cast<int>(product->format)));
      PackedMatrices matrices(*kernels, *product);
      const WeightFiles files(*graph);
      static_cast<void>(matrices.add(weight, files));
      std::size_t packed = 0;
      const auto share = [&](std::size_t panels, const PackedMatrices::Part& part) {
        for (std::size_t panel = 0; panel < panels; ++panel, ++packed) {
          refuse_allocation(1, Refusal::kOnce);
          EXPECT_NO_THROW(part(panel, 0));
          EXPECT_FALSE(stop_refusing());
        }
      };
      EXPECT_TRUE(matrices.pack(*graph, files, 1, share).ok());
      EXPECT_EQ(packed, panel_count(kWidest, *kernels));
    }
  }
  // f32 everywhere, and something else.
  EXPECT_GT(products, all_kernels().size());
}

// Executes with these threads, and refuses one allocation after the other until all were.
class Runner {
 public:
  explicit Runner(unsigned threads) : shape_{.hidden = 32, .heads = 2, .intermediate = 64} {
    auto loaded = testing::backend()->load(testing::model_of(*testing::encoder(shape_)), "CPU", {.threads = threads});
    EXPECT_TRUE(loaded.ok()) << loaded.status().to_string();
    executable_ = *std::move(loaded);
    std::mt19937 chance(3);
    const testing::Inputs inputs = testing::draw_batch(chance, std::vector<std::int64_t>(20, 30), shape_.vocabulary);
    for (const core::TensorInfo& info : executable_->inputs()) {
      const testing::Array& array = inputs.at(info.name);
      numbers_.emplace_back(array.values.begin(), array.values.end());
      views_.push_back(
          {numbers_.back().data(), core::ElementType::kI64, *core::Shape::make(array.shape), std::nullopt});
    }
    wanted_ = testing::run(*executable_, inputs).values;
  }

  // The bounded one asks for its limits on every thread.
  core::Status go(core::RunOptions options) {
    core::OutputTensor output;
    try {
      LB_RETURN_IF_ERROR(executable_->execute(views_, {&output, 1}, options));
    } catch (const std::bad_alloc&) {
      return core::Status::of_exception();
    }
    const Spared spared;
    const auto* const found = static_cast<const float*>(output.view().data);
    EXPECT_TRUE(std::equal(wanted_.begin(), wanted_.end(), found));
    return {};
  }

 private:
  testing::EncoderShape shape_;
  std::unique_ptr<core::Executable> executable_;
  std::list<std::vector<std::int64_t>> numbers_;
  std::vector<core::TensorView> views_;
  std::vector<float> wanted_;
};

TEST(NativeMemoryGivesOutTest, ARunEndsWithAnErrorAndTheNextOneWorks) {
  constexpr std::uint64_t kMost = 1000;
  for (const unsigned threads : {1U, 3U}) {
    for (const bool is_over : {false, true}) {
      const core::RunOptions options =
          is_over ? core::RunOptions{.run_timeout = std::chrono::milliseconds(0)} : core::RunOptions{};
      const auto wanted = is_over ? core::StatusCode::kDeviceFailed : core::StatusCode::kOk;
      std::uint64_t n = 1;
      for (bool refused = true; refused; ++n) {
        ASSERT_LE(n, kMost);
        SCOPED_TRACE(n);
        // One that has no memory from earlier runs.
        Runner runner(threads);
        refuse_allocation(n, Refusal::kFromThenOn);
        const core::Status status = runner.go(options);
        refused = stop_refusing();
        if (refused) {
          EXPECT_FALSE(status.ok());
        } else {
          EXPECT_EQ(status.code(), wanted) << status.to_string();
        }
        EXPECT_EQ(runner.go({}).code(), core::StatusCode::kOk);
      }
      EXPECT_GT(n, 2U);
    }
  }
}

}  // namespace
}  // namespace latebind::native
