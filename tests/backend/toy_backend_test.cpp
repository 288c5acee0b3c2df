// A backend of one's own, seen through what all backends are used through.
#include "examples/backend/toy_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/backend/registry.h"
#include "core/engine/engine.h"
#include "core/graph/graph.h"
#include "core/placement/placement.h"

namespace latebind::toy {
namespace {

using core::ElementType;
using core::Status;
using core::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

core::Model model_of(graph::GraphBuilder builder, graph::Value output) {
  auto made = std::move(builder).finish(output, "z");
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  return core::Model::from_graph("sum", {.graph = std::make_shared<const graph::Graph>(*std::move(made))});
}

core::Model sum() {
  graph::GraphBuilder builder{core::FilePart{}};
  const core::Shape shape{core::kDynamic, 2};
  const auto x = builder.add(graph::Input{"x", ElementType::kF32, shape});
  const auto y = builder.add(graph::Input{"y", ElementType::kF32, shape});
  const auto z = builder.add(graph::Add{x, y});
  return model_of(std::move(builder), z);
}

class ToyBackendTest : public ::testing::Test {
 protected:
  ToyBackendTest() { EXPECT_TRUE(registry.add(configured_backend({})).ok()); }

  core::Result<std::shared_ptr<core::PlacedModel>> load(const core::Model& model) {
    const auto placement = core::Placement::parse("auto", registry);
    EXPECT_TRUE(placement.ok()) << placement.status().to_string();
    return core::Engine(registry).load(model, *placement, {});
  }

  core::Registry registry;
};

TEST_F(ToyBackendTest, AddsTwoTensorsAndIsAttested) {
  const auto placed = load(sum());
  ASSERT_TRUE(placed.ok()) << placed.status().to_string();
  std::array<float, 4> x{1, 2, 3, 4};
  std::array<float, 4> y{10, 20, 30, 40};
  const std::array<core::TensorView, 2> inputs{core::TensorView{x.data(), ElementType::kF32, {2, 2}, std::nullopt},
                                               core::TensorView{y.data(), ElementType::kF32, {2, 2}, std::nullopt}};
  core::OutputTensor output;
  ASSERT_TRUE((*placed)->execute(inputs, {&output, 1}, {}).ok());
  const auto* z = static_cast<const float*>(output.view().data);
  EXPECT_THAT(std::vector<float>(z, z + 4), ElementsAre(11, 22, 33, 44));
  EXPECT_EQ((*placed)->attestation()->active.backend, "toy");
  EXPECT_EQ((*placed)->attestation()->active.device, "CPU");
}

// What stands in core/backend/executable.h once for all backends.
TEST_F(ToyBackendTest, IsCalledWithWhatFitsAlone) {
  const auto placed = load(sum());
  ASSERT_TRUE(placed.ok());
  std::array<float, 4> x{};
  const core::TensorView good{x.data(), ElementType::kF32, {2, 2}, std::nullopt};
  core::OutputTensor output;
  const auto refusal = [&](std::vector<core::TensorView> inputs, std::size_t outputs = 1) {
    std::vector<core::OutputTensor> room(outputs);
    return (*placed)->execute(inputs, room, {});
  };
  EXPECT_EQ(refusal({good}).code(), StatusCode::kCountMismatch);
  EXPECT_EQ(refusal({good, good}, 2).code(), StatusCode::kCountMismatch);
  EXPECT_THAT(refusal({good, good}, 2).to_string(), HasSubstr("the model has 1 outputs, but there is room for 2"));
  core::TensorView wrong = good;
  wrong.type = ElementType::kI32;
  EXPECT_EQ(refusal({good, wrong}).code(), StatusCode::kTypeMismatch);
  wrong = good;
  wrong.shape = {1, 3};
  EXPECT_EQ(refusal({good, wrong}).code(), StatusCode::kShapeMismatch);
  EXPECT_THAT(refusal({good, wrong}).to_string(),
              HasSubstr("input 'y' (position 1) takes shape [?,2], but [1,3] was given"));
  wrong = good;
  wrong.strides.emplace();
  (*wrong.strides)[0] = 2;
  (*wrong.strides)[1] = -1;
  EXPECT_EQ(refusal({good, wrong}).code(), StatusCode::kUnsupported);
  EXPECT_THAT(refusal({good, wrong}).to_string(), HasSubstr("input 'y' (position 1): negative stride -1"));
}

TEST_F(ToyBackendTest, RefusesByNameWhatItCannotDo) {
  const auto refusal = [&](const auto& make_output) {
    graph::GraphBuilder builder{core::FilePart{}};
    const auto input = [&](const char* name, const core::Shape& shape) {
      return builder.add(graph::Input{name, ElementType::kF32, shape});
    };
    const auto output = make_output(builder, input);
    return load(model_of(std::move(builder), output)).status();
  };
  const core::Shape rows{core::kDynamic, 2};
  for (const Status& refused : {
           refusal([&](auto&graph, const auto&input) {
             return graph.add(graph::Activation{input("x", rows), graph::ActivationFunction::kRelu});
           }),
           refusal([&](auto&graph, const auto&input) {
             const auto x = input("x", rows);
             return graph.add(graph::Add{x, x});
           }),
           refusal([&](auto&graph, const auto&input) {
             const auto x = input("x", rows);
             return graph.add(graph::Add{x, input("y", {2})});
           }),
       }) {
    EXPECT_EQ(refused.code(), StatusCode::kUnsupported);
    EXPECT_THAT(refused.to_string(), HasSubstr("toy adds two inputs of f32 and of one shape"));
  }
}

TEST_F(ToyBackendTest, InputsAreInTheModelsOrder) {
  graph::GraphBuilder builder{core::FilePart{}};
  const auto x = builder.add(graph::Input{"x", ElementType::kF32, {2}});
  const auto y = builder.add(graph::Input{"y", ElementType::kF32, {2}});
  const auto z = builder.add(graph::Add{y, x});
  const auto placed = load(model_of(std::move(builder), z));
  ASSERT_TRUE(placed.ok()) << placed.status().to_string();
  EXPECT_EQ((*placed)->inputs()[0].name, "x");
}

TEST_F(ToyBackendTest, WhatIsNotHonouredIsRefused) {
  const auto backend = configured_backend({});
  core::CompileOptions options;
  EXPECT_TRUE(backend->load(sum(), "CPU", options).ok());
  options.input_shapes = {core::Shape{1, 2}, core::Shape{1, 2}};
  EXPECT_EQ(backend->load(sum(), "CPU", options).status().code(), StatusCode::kUnsupported);
  options = {};
  options.properties = {{"SPEED", "high"}};
  EXPECT_THAT(backend->load(sum(), "CPU", options).status().to_string(), HasSubstr("'SPEED'"));
  options = {};
  options.threads = core::kCountMax + 1;
  EXPECT_EQ(backend->load(sum(), "CPU", options).status().code(), StatusCode::kInvalidArgument);
  options = {};
  options.precision = core::Precision::kF16;
  EXPECT_EQ(backend->load(sum(), "CPU", options).status().code(), StatusCode::kUnsupported);
}

TEST_F(ToyBackendTest, HasOneDiagnosis) {
  const auto reports = core::Engine(registry).report();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports.front().diagnosis.install_hint, "nothing: toy is built in");
  EXPECT_EQ(reports.front().devices.front().id(), "toy:CPU");
}

}  // namespace
}  // namespace latebind::toy
