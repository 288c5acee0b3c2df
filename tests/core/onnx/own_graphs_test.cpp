// Latebind's own graphs use nothing that a vendor computes differently from ONNX.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "core/graph/onnx_writer.h"
#include "kit/networks/random_encoder.h"
#include "tests/core/onnx/onnx_parts.h"
#include "tests/support/encoders_to_draw.h"

namespace latebind::onnx {
namespace {

constexpr std::size_t kEncodersDrawn = 300;
constexpr std::string_view kVersion = "openvino 2026.4.1";

std::string table_of_openvino() {
  std::ifstream file(std::string(LATEBIND_SOURCE_DIR) + "/backends/openvino/known_errors.tsv", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(OwnGraphsTest, RandomEncodersUseNothingThatOpenVinoComputesDifferently) {
  const std::string table = table_of_openvino();
  const auto errors = KnownErrors::read(table, "known_errors.tsv", std::vector<std::string>{std::string(kVersion)});
  ASSERT_TRUE(errors.ok()) << errors.status().to_string();
  ASSERT_FALSE(errors->empty());
  std::mt19937 chance(20261130);
  std::mt19937 more(45);
  std::mt19937 latest(180);
  for (std::size_t i = 0; i < test::encoders_to_draw(kEncodersDrawn); ++i) {
    SCOPED_TRACE(i);
    kit::EncoderShape shape = kit::draw_shape(chance);
    kit::draw_biases_and_experts(more, shape);
    kit::draw_convolution_and_disentangled(latest, shape);
    const auto graph = kit::encoder(shape);
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    const std::string model = graph::write_onnx(*graph, {});
    const auto network = testing::network_in(model);
    ASSERT_TRUE(network.ok()) << network.status().to_string();
    const KnownErrorReport report = find_known_errors(*network, *errors);
    for (const auto& [place, why] : report.nodes) {
      const Node& node = network->network.nodes[place];
      // The last token's place is the number of tokens less one: within the text, but that is not worked out.
      if (node.op == "GatherND" && shape.pooling == graph::PoolingMode::kLastToken && shape.pooled) continue;
      // What it computes of weights alone, when it compiles a model, was not compared with ONNX: the tables of
      // disentangled attention.
      const bool is_of_table = shape.span > 0 && (node.op == "LayerNormalization" || node.op == "MatMul");
      if (is_of_table && why.find("is not among the operators and types") != std::string::npos) continue;
      // TopK differs only for ties, and the reference does not define which of two experts with equal scores it
      // chooses. The indices that ScatterElements receives are always valid experts.
      if (shape.experts > 0 && (node.op == "TopK" || node.op == "ScatterElements")) continue;
      ADD_FAILURE() << node.text() << ' ' << why;
    }
    // Of token ids and masks, the only inputs, a run checks no more than that they are such.
    EXPECT_LE(report.bounds.size(), 2U);
  }
}

}  // namespace
}  // namespace latebind::onnx
