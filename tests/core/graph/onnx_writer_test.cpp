#include "core/graph/onnx_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/onnx_reader.h"
#include "core/graph/onnx_structure.h"
#include "kit/networks/small_encoder.h"

namespace latebind::graph {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

const std::vector<std::string> kLocation{"weights.bin"};

TEST(OnnxWriterTest, DeclaresItsInputsAndItsOutput) {
  for (const bool pooled : {true, false}) {
    const std::string model = write_onnx(*kit::small_graph({.pooled = pooled}), kLocation);
    EXPECT_TRUE(check_onnx_structure(bytes_of(model)).ok());
    const auto signature = read_onnx_signature(bytes_of(model), "x.onnx");
    ASSERT_TRUE(signature.ok());
    EXPECT_EQ(signature->inputs.size(), 2U);
    ASSERT_EQ(signature->outputs.size(), 1U);
    EXPECT_EQ(signature->outputs[0].name, pooled ? "vector" : "tokens");
    EXPECT_EQ(signature->outputs[0].shape,
              pooled ? (std::vector<std::int64_t>{-1, 8}) : (std::vector<std::int64_t>{-1, -1, 8}));
  }
}

TEST(OnnxWriterTest, LeavesWeightsWhereTheyAre) {
  const auto graph = kit::small_graph();
  const std::string model = write_onnx(*graph, kLocation);
  const auto locations = external_data_locations(bytes_of(model));
  EXPECT_TRUE(locations.complete);
  EXPECT_EQ(locations.names, (std::set<std::string>{"weights.bin"}));
  const std::string whole = write_onnx(*graph, {});
  EXPECT_FALSE(may_name_external_data(bytes_of(whole)));
  // Each weight's bytes stand in it.
  const auto all = graph->weights().front().bytes.bytes;
  const std::string_view last(reinterpret_cast<const char*>(all.data()) + all.size() - 8 * 4, 8 * 4);
  EXPECT_THAT(whole, ::testing::HasSubstr(std::string(last)));
  EXPECT_THAT(model, ::testing::Not(::testing::HasSubstr(std::string(last))));
}

}  // namespace
}  // namespace latebind::graph
