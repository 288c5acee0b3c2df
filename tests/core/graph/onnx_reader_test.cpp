#include "core/graph/onnx_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/protobuf.h"

namespace latebind::graph {
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

TEST(OnnxReaderTest, ReadsNamesAndShapesOfOutputs) {
  const auto signature =
      read_signature(model({output("a", {-1, 384}), output("b", {}, false), output("c", {-1, std::int64_t{1} << 60})}));
  ASSERT_TRUE(signature.ok());
  ASSERT_EQ(signature->outputs.size(), 3U);
  EXPECT_EQ(signature->outputs[0].name, "a");
  EXPECT_EQ(signature->outputs[0].shape, (std::vector<std::int64_t>{-1, 384}));
  EXPECT_TRUE(signature->outputs[0].has_shape);
  EXPECT_FALSE(signature->outputs[1].has_shape);
  EXPECT_EQ(signature->outputs[2].shape, (std::vector<std::int64_t>{-1, -1})) << "absurd dimensions count as unknown";
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
  const auto signature = read_signature(message.bytes());
  ASSERT_EQ(signature->inputs.size(), 2U);
  EXPECT_EQ(signature->inputs[0].name, "input_ids");
  EXPECT_EQ(signature->inputs[1].name, "attention_mask");
  EXPECT_EQ(signature->inputs[1].shape, (std::vector<std::int64_t>{-1, -1}));
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

}  // namespace
}  // namespace latebind::graph
