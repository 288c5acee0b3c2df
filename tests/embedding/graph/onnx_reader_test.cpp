#include "embedding/graph/onnx_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "embedding/graph/protobuf.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;

ProtobufMessage output(std::string_view name, const std::vector<std::int64_t>& shape, bool has_shape = true) {
  ProtobufMessage dims;
  for (const std::int64_t size : shape) {
    ProtobufMessage dim;
    if (size >= 0) dim.add_int(1, size);
    dims.add_message(1, dim);
  }
  ProtobufMessage tensor;
  tensor.add_int(1, 1);
  if (has_shape) tensor.add_message(2, dims);
  ProtobufMessage type;
  type.add_message(1, tensor);
  ProtobufMessage value;
  value.add_bytes(1, name);
  value.add_message(2, type);
  return value;
}

std::string model(std::initializer_list<ProtobufMessage> outputs) {
  ProtobufMessage graph;
  graph.add_bytes(2, "g");
  for (const ProtobufMessage& value : outputs)
    graph.add_message(12, value);
  ProtobufMessage message;
  message.add_int(1, 9);
  message.add_message(7, graph);
  return message.bytes();
}

core::Result<OnnxSignature> read_signature(std::string_view bytes) {
  return read_onnx_signature(std::as_bytes(std::span(bytes.data(), bytes.size())), "x.onnx");
}

core::Result<OnnxEmbeddingOutput> choose(std::initializer_list<ProtobufMessage> outputs) {
  return choose_embedding_output(*read_signature(model(outputs)), "x.onnx");
}

TEST(OnnxReaderTest, PrefersTokenVectorsByName) {
  const auto tokens = choose({output("pooler_output", {-1, 384}), output("last_hidden_state", {-1, -1, 384})});
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ(tokens->position, 1U);
  EXPECT_FALSE(tokens->pooled);
  EXPECT_EQ(tokens->dimension, 384U);
  const auto vector = choose({output("other", {-1, -1, 8}), output("sentence_embedding", {-1, 16})});
  EXPECT_EQ(vector->position, 1U);
  EXPECT_TRUE(vector->pooled);
}

TEST(OnnxReaderTest, TakesTheFirstOutputThatFitsOtherwise) {
  const auto tokens = choose({output("a", {-1}), output("b", {-1, 16}), output("c", {-1, -1, 8})});
  EXPECT_EQ(tokens->position, 2U);
  EXPECT_EQ(tokens->dimension, 8U);
  EXPECT_EQ(choose({output("a", {-1}), output("b", {-1, -1})})->dimension, 0U);
  EXPECT_FALSE(choose({output("last_hidden_state", {}, false)})->pooled);
  EXPECT_EQ(choose({output("a", {-1})}).status().code(), StatusCode::kUnsupported);
}

TEST(OnnxReaderTest, CountsInputsButNotTheWeightsAmongThem) {
  ProtobufMessage graph;
  for (const char* name : {"input_ids", "weight", "attention_mask"})
    graph.add_message(11, output(name, {-1, -1}));
  ProtobufMessage weight;
  weight.add_bytes(8, "weight");
  graph.add_message(5, weight);
  graph.add_message(12, output("y", {-1, 8}));
  ProtobufMessage message;
  message.add_message(7, graph);
  EXPECT_EQ(read_signature(message.bytes())->inputs, 2U);
}

TEST(OnnxReaderTest, RefusesWhatIsNoModel) {
  for (const std::string& bytes :
       {std::string(), std::string("hello world"), std::string(64, '\xff'), std::string(64, '\0'), model({})}) {
    EXPECT_EQ(read_signature(bytes).status().code(), StatusCode::kInvalidModel);
  }
}

TEST(OnnxReaderTest, EveryCutIsRefusedOrRead) {
  const std::string whole = model({output("last_hidden_state", {-1, -1, 384})});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_signature(std::string_view(whole).substr(0, size)).ok()) << size;
  }
}

TEST(OnnxReaderTest, AbsurdDimensionsCountAsUnknown) {
  EXPECT_EQ(choose({output("a", {-1, -1, std::int64_t{1} << 60})})->dimension, 0U);
}

}  // namespace
}  // namespace latebind::embedding
