// Graphs are computed with packed tokens on the real CPU plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "backends/openvino/backend.h"
#include "core/backend/backend.h"
#include "core/backend/questions.h"
#include "kit/networks/batches.h"
#include "kit/networks/graph_model.h"
#include "kit/networks/random_encoder.h"
#include "kit/reference/evaluator.h"
#include "kit/run_graph.h"

namespace latebind::openvino {
namespace {

using core::Shape;
using core::StatusCode;
using kit::EncoderShape;
using kit::Inputs;
using kit::Outcome;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

constexpr std::int64_t kHidden = 12;

core::Model encoder_of(const EncoderShape& shape) {
  auto made = kit::encoder(shape);
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  return kit::model_of(*std::move(made));
}

class PackedTokensTest : public testing::Test {
 protected:
  std::unique_ptr<core::Executable> load(const EncoderShape& shape, const core::CompileOptions& options = {}) {
    auto loaded = backend_->load(encoder_of(shape), "CPU", options);
    EXPECT_TRUE(loaded.ok()) << loaded.status().to_string();
    return loaded.ok() ? *std::move(loaded) : nullptr;
  }

  std::shared_ptr<core::Backend> backend_ = make_backend();
  std::mt19937 chance_{7};
  EncoderShape shape_{.hidden = kHidden};
};

Inputs row_of(const Inputs& inputs, std::int64_t row, std::int64_t length) {
  Inputs one;
  for (const auto& [name, array] : inputs) {
    const auto begin = array.values.begin() + row * array.shape[1];
    one.emplace(name, kit::Array{{1, length}, {begin, begin + length}});
  }
  return one;
}

TEST_F(PackedTokensTest, CallersSeeTheGraphsInputsAlone) {
  const auto executable = load(shape_);
  ASSERT_NE(executable, nullptr);
  std::vector<std::string> names;
  for (const core::TensorInfo& input : executable->inputs())
    names.push_back(input.name);
  EXPECT_THAT(names, ElementsAre("ids", "mask"));
  EXPECT_TRUE(executable->active().packs_tokens);
  EXPECT_EQ(executable->active().kept_shapes, 0U);
}

TEST_F(PackedTokensTest, WhereShapesAreStaticTheyAreNot) {
  const auto executable = load(shape_, {.input_shapes = {Shape{2, 8}, Shape{2, 8}}});
  ASSERT_NE(executable, nullptr);
  EXPECT_FALSE(executable->active().packs_tokens);
}

TEST_F(PackedTokensTest, ATextHasTheSameVectorAloneAndAmongOthers) {
  for (const bool is_bounded : {false, true}) {
    const core::RunOptions options{.run_timeout = is_bounded ? std::optional(std::chrono::minutes(1)) : std::nullopt};
    const auto executable = load(shape_);
    ASSERT_NE(executable, nullptr);
    for (const std::vector<std::int64_t>& lengths :
         {std::vector<std::int64_t>{9, 1, 30}, {4, 4}, {17, 3, 3, 2, 60, 1, 1, 8, 5}, {6}}) {
      const Inputs batch = kit::draw_batch(chance_, lengths, shape_.vocabulary, 2);
      const Outcome all = kit::run(*executable, batch, options);
      ASSERT_TRUE(all.status.ok()) << all.status.to_string();
      ASSERT_EQ(all.shape, (Shape{static_cast<std::int64_t>(lengths.size()), kHidden}));
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        const auto row = static_cast<std::int64_t>(i);
        const Outcome alone = kit::run(*executable, row_of(batch, row, lengths[i]), options);
        ASSERT_TRUE(alone.status.ok()) << alone.status.to_string();
        const auto begin = all.values.begin() + row * kHidden;
        EXPECT_THAT(alone.values, Pointwise(FloatNear(1e-6F), std::vector<float>(begin, begin + kHidden))) << i;
      }
    }
  }
}

TEST_F(PackedTokensTest, TokensHaveTheirVectorsWhereTheyWere) {
  shape_.pooled = false;
  const core::Model model = encoder_of(shape_);
  const auto executable = load(shape_);
  ASSERT_NE(executable, nullptr);
  const Inputs batch = kit::draw_batch(chance_, {3, 7, 1}, shape_.vocabulary, 1);
  const Outcome outcome = kit::run(*executable, batch);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.to_string();
  ASSERT_EQ(outcome.shape, (Shape{3, 8, kHidden}));
  const auto wanted = kit::evaluate(*model.graph()->graph, batch);
  const auto& mask = batch.at("mask").values;
  for (std::size_t i = 0; i < wanted.values.size(); ++i) {
    if (mask[i / kHidden] == 0) continue;
    EXPECT_NEAR(outcome.values[i], wanted.values[i], 1e-5) << i;
  }
}

TEST_F(PackedTokensTest, NoTextsAndTextsWithoutATokenDisturbNobody) {
  const auto executable = load(shape_);
  ASSERT_NE(executable, nullptr);
  for (const Shape& shape : {Shape{0, 5}, Shape{0, 0}}) {
    const kit::Array none{{shape[0], shape[1]}, {}};
    const Outcome outcome = kit::run(*executable, {{"ids", none}, {"mask", none}});
    ASSERT_TRUE(outcome.status.ok()) << outcome.status.to_string();
    EXPECT_EQ(outcome.shape, (Shape{0, kHidden}));
  }
  const Inputs batch = kit::draw_batch(chance_, {4, 6, 2}, shape_.vocabulary);
  const Outcome before = kit::run(*executable, batch);
  Inputs hollow = batch;
  std::fill_n(hollow.at("mask").values.begin() + 6, 6, 0.0);
  const Outcome after = kit::run(*executable, hollow);
  ASSERT_TRUE(before.status.ok() && after.status.ok());
  for (const std::int64_t row : {0, 2}) {
    const auto of = [&](const Outcome& outcome) {
      const auto begin = outcome.values.begin() + row * kHidden;
      return std::vector<float>(begin, begin + kHidden);
    };
    EXPECT_THAT(of(after), Pointwise(FloatNear(1e-6F), of(before))) << row;
  }
}

TEST_F(PackedTokensTest, ABlobKeepsThem) {
  const core::Model model = encoder_of(shape_);
  const auto blob = core::compile_blob(*backend_, model, "CPU", {});
  ASSERT_TRUE(blob.ok()) << blob.status().to_string();
  auto loaded = core::load_blob(*backend_, *blob, "CPU", {});
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_TRUE((*loaded)->active().packs_tokens);
  EXPECT_EQ((*loaded)->inputs().size(), 2U);
  const Inputs batch = kit::draw_batch(chance_, {4, 6, 2}, shape_.vocabulary);
  const Outcome outcome = kit::run(**loaded, batch);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.to_string();
  const auto wanted = kit::evaluate(*model.graph()->graph, batch);
  for (std::size_t i = 0; i < wanted.values.size(); ++i)
    EXPECT_NEAR(outcome.values[i], wanted.values[i], 1e-5) << i;
}

TEST_F(PackedTokensTest, InputsThatDoNotFitTogetherAreRefusedByName) {
  const auto executable = load(shape_);
  ASSERT_NE(executable, nullptr);
  Inputs inputs = kit::draw_batch(chance_, {4, 6}, shape_.vocabulary);
  inputs.at("mask") = kit::draw_batch(chance_, {4, 7}, shape_.vocabulary).at("mask");
  const Outcome outcome = kit::run(*executable, inputs);
  EXPECT_EQ(outcome.status.code(), StatusCode::kShapeMismatch);
  EXPECT_THAT(outcome.status.message(), HasSubstr("'mask' has shape [2,7], and 'ids' has [2,6]"));
}

}  // namespace
}  // namespace latebind::openvino
