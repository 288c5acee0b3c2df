#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "embedding/outputs/onnx_end.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using graph::OnnxTensor;

OnnxTensor output(std::string name, std::vector<std::int64_t> shape) {
  return {.name = std::move(name), .has_shape = true, .shape = std::move(shape)};
}

core::Result<ModelEnd> choose(std::vector<OnnxTensor> outputs) {
  return choose_embedding_output({.outputs = std::move(outputs), .inputs = std::vector<OnnxTensor>(2)}, "x.onnx");
}

TEST(OnnxOutputTest, PrefersTokenVectorsByName) {
  const auto tokens = choose({output("pooler_output", {-1, 384}), output("last_hidden_state", {-1, -1, 384})});
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ(tokens->position, 1U);
  EXPECT_FALSE(tokens->pooled);
  EXPECT_EQ(tokens->dimension, 384U);
  const auto vector = choose({output("other", {-1, -1, 8}), output("sentence_embedding", {-1, 16})});
  EXPECT_EQ(vector->position, 1U);
  EXPECT_TRUE(vector->pooled);
}

TEST(OnnxOutputTest, TakesTheFirstOutputThatFitsOtherwise) {
  const auto tokens = choose({output("a", {-1}), output("b", {-1, 16}), output("c", {-1, -1, 8})});
  EXPECT_EQ(tokens->position, 2U);
  EXPECT_EQ(tokens->dimension, 8U);
  EXPECT_EQ(choose({output("a", {-1}), output("b", {-1, -1})})->dimension, 0U);
  EXPECT_FALSE(choose({{.name = "last_hidden_state"}})->pooled);
  EXPECT_EQ(choose({output("a", {-1})}).status().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace latebind::embedding
