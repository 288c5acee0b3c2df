// A graph of ours computes on every backend what its operators mean.
#include <gmock/gmock.h>

#include "tests/conformance/conformance.h"
#include "tests/core/graph/evaluator.h"
#include "tests/core/graph/small_graph.h"

namespace latebind::test {
namespace {

using graph::ActivationFunction;
using graph::PoolingMode;
using graph::testing::SmallGraphOptions;

core::Model model_of(const SmallGraphOptions& options) {
  core::ModelGraph network;
  network.graph = std::make_shared<const graph::Graph>(*graph::testing::small_graph(options));
  network.weights_name = "weights.bin";
  return core::Model::from_graph("small", std::move(network));
}

TEST_P(ConformanceTest, ComputesWhatAGraphMeans) {
  for (const SmallGraphOptions& options :
       {SmallGraphOptions{}, SmallGraphOptions{.weights = ElementType::kF16},
        SmallGraphOptions{.weights = ElementType::kBF16},
        SmallGraphOptions{.activation = ActivationFunction::kGeluTanh},
        SmallGraphOptions{.activation = ActivationFunction::kRelu}, SmallGraphOptions{.pooling = PoolingMode::kCls},
        SmallGraphOptions{.pooling = PoolingMode::kMax}, SmallGraphOptions{.pooling = PoolingMode::kLastToken}}) {
    const core::Model model = model_of(options);
    const auto executable = load(model);
    ASSERT_NE(executable, nullptr);
    const auto batch = graph::testing::small_batch();
    std::vector<Tensor<std::int64_t>> tensors;
    std::vector<TensorView> inputs;
    for (const auto& info : executable->inputs()) {
      const auto& given = batch.at(info.name);
      Tensor<std::int64_t> tensor{*Shape::make(given.shape), {}};
      for (const double value : given.values)
        tensor.values.push_back(static_cast<std::int64_t>(value));
      tensors.push_back(std::move(tensor));
    }
    for (auto& tensor : tensors)
      inputs.push_back(tensor.view(ElementType::kI64));
    std::vector<OutputTensor> outputs(1);
    const Status ran = executable->execute(inputs, outputs, {});
    ASSERT_TRUE(ran.ok()) << ran.to_string();
    const auto wanted = graph::testing::evaluate(*model.graph()->graph, batch);
    const TensorView& got = outputs[0].view();
    ASSERT_EQ(got.shape.to_string(), Shape::make(wanted.shape)->to_string());
    for (std::size_t i = 0; i < wanted.values.size(); ++i)
      EXPECT_NEAR(static_cast<const float*>(got.data)[i], wanted.values[i], 2e-6) << i;
  }
}

}  // namespace
}  // namespace latebind::test
