#include "core/onnx/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/onnx/value_range.h"
#include "tests/core/onnx/onnx_parts.h"

namespace latebind::onnx {
namespace {

using core::ElementType;
using core::StatusCode;
using test::OnnxBuilder;
using testing::attribute_of;
using ::testing::ElementsAre;
using testing::function_of;
using ::testing::HasSubstr;
using testing::Message;
using testing::network_in;
using testing::node_of;

// A model with this tensor among its constants.
Constant constant_in(const Message& tensor) {
  Message graph;
  graph.add_message(5, tensor);
  Message model;
  model.add_message(7, graph);
  const auto network = network_in(model.bytes());
  return network.ok() && network->network.constants.contains("c") ? network->network.constants.at("c") : Constant{};
}

Message tensor_of(ElementType type, const std::vector<std::int64_t>& shape) {
  Message tensor;
  for (const std::int64_t size : shape)
    tensor.add_int(1, size);
  tensor.add_int(2, test::onnx_type(type));
  tensor.add_bytes(8, "c");
  return tensor;
}

TEST(OnnxNetworkTest, ReadsNodesConstantsAndDeclarations) {
  constexpr std::array<std::int64_t, 2> kNumbers{3, -4};
  const auto builder = OnnxBuilder()
                           .input("x", ElementType::kF32, {std::int64_t{2}, "n", ""})
                           .input("c", ElementType::kI64, {std::int64_t{2}})
                           .constant<std::int64_t>("c", ElementType::kI64, {2}, kNumbers)
                           .node("ReduceSum", {"x", "c", ""}, {"y"}, {{"keepdims", 0}})
                           .output("y", ElementType::kF32, {});
  const auto network = network_in(builder.bytes());
  ASSERT_TRUE(network.ok()) << network.status().to_string();
  const Network& graph = network->network;
  // Old files list constants among the inputs.
  EXPECT_THAT(graph.inputs, ElementsAre("x"));
  EXPECT_THAT(graph.outputs, ElementsAre("y"));
  EXPECT_THAT(graph.declared.at("x").shape, ElementsAre(2, -1, -1));
  EXPECT_EQ(graph.declared.at("x").type, ElementType::kF32);
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].text(), "ReduceSum 'ReduceSum_0'");
  EXPECT_TRUE(graph.nodes[0].has_input(1));
  EXPECT_FALSE(graph.nodes[0].has_input(2));
  EXPECT_EQ(graph.nodes[0].find("keepdims")->integer, 0);
  EXPECT_EQ(ValueRange::of(graph.constants.at("c")).low, -4);
}

TEST(OnnxNetworkTest, ReadsNumbersInEveryForm) {
  Message packed = tensor_of(ElementType::kI32, {2});
  packed.add_bytes(5, std::string("\x05\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11));
  EXPECT_EQ(ValueRange::of(constant_in(packed)).low, -2);
  Message single = tensor_of(ElementType::kI64, {2});
  single.add_int(7, 5);
  single.add_int(7, -9);
  EXPECT_EQ(ValueRange::of(constant_in(single)).low, -9);
  Message floats = tensor_of(ElementType::kF32, {2});
  floats.add_float(4, 7);
  floats.add_float(4, 8);
  EXPECT_EQ(ValueRange::of(constant_in(floats)).high, 8);
  Message halves = tensor_of(ElementType::kF16, {1});
  halves.add_int(5, 0xFC00);
  EXPECT_EQ(ValueRange::of(constant_in(halves)).low, -kInfinite);
  Message truth = tensor_of(ElementType::kBool, {1});
  truth.add_int(5, 1);
  EXPECT_EQ(ValueRange::of(constant_in(truth)).low, 1);
}

TEST(OnnxNetworkTest, NumbersThatAreNotThereAreNotRead) {
  Message elsewhere = tensor_of(ElementType::kF32, {1});
  elsewhere.add_bytes(9, "abcd");
  elsewhere.add_int(14, 1);
  EXPECT_FALSE(constant_in(elsewhere).is_read);
  Message short_one = tensor_of(ElementType::kF32, {2});
  short_one.add_bytes(9, "abcd");
  EXPECT_FALSE(constant_in(short_one).is_read);
  // Sizes whose product is 2^64.
  EXPECT_FALSE(constant_in(tensor_of(ElementType::kF32, {std::int64_t{1} << 20, std::int64_t{1} << 44})).is_read);
  EXPECT_FALSE(constant_in(tensor_of(ElementType::kF32, {-1})).is_read);
  EXPECT_TRUE(constant_in(tensor_of(ElementType::kF32, {0})).is_read);
  Message unknown;
  unknown.add_int(2, 257);
  unknown.add_bytes(8, "c");
  EXPECT_EQ(constant_in(unknown).type, std::nullopt);
}

TEST(OnnxNetworkTest, DamagedFilesAreRefused) {
  const auto refused = [](const std::string& bytes) {
    const auto network = network_in(bytes);
    return !network.ok() && network.status().code() == StatusCode::kInvalidModel;
  };
  EXPECT_TRUE(refused(""));
  EXPECT_TRUE(refused("garbage"));
  for (const std::string& varint :
       {std::string(11, '\xff') + '\x01', std::string("\x80"), std::string("\x01\x80"), std::string(10, '\xff')}) {
    Message tensor = tensor_of(ElementType::kI64, {1});
    tensor.add_bytes(7, varint);
    Message graph;
    graph.add_message(5, tensor);
    Message model;
    model.add_message(7, graph);
    EXPECT_TRUE(refused(model.bytes())) << varint.size();
  }
  // Of two graphs readers make one.
  Message twice;
  twice.add_message(7, Message());
  EXPECT_FALSE(refused(twice.bytes()));
  twice.add_message(7, Message());
  EXPECT_TRUE(refused(twice.bytes()));
  const auto same = OnnxBuilder().function(function_of("f", {}, {}, {})).function(function_of("f", {}, {}, {}));
  EXPECT_TRUE(refused(same.bytes()));
}

TEST(OnnxNetworkTest, NetworksDeeperThanAnyModelHasAreRefused) {
  const auto nested = [](unsigned depth) {
    Message graph;
    for (unsigned i = 0; i < depth; ++i) {
      Message outer;
      outer.add_message(1, node_of("If", {"c"}, {"y"}, {attribute_of("then_branch", graph)}));
      graph = outer;
    }
    Message model;
    model.add_message(7, graph);
    return network_in(model.bytes()).status();
  };
  EXPECT_TRUE(nested(16).ok());
  EXPECT_EQ(nested(17).code(), StatusCode::kInvalidModel);
  EXPECT_THAT(nested(200).to_string(), HasSubstr("m: not an ONNX model, damaged, or larger than is examined"));
}

TEST(OnnxNetworkTest, ManyEmptyNetworksAreCounted) {
  std::string attribute;
  for (unsigned i = 0; i < 110'000; ++i)
    attribute += std::string("\x5a\x00", 2);  // graphs
  Message node;
  node.add_bytes(5, attribute);
  Message graph;
  graph.add_message(1, node);
  Message model;
  model.add_message(7, graph);
  EXPECT_EQ(network_in(model.bytes()).status().code(), StatusCode::kInvalidModel);
}

TEST(OnnxNetworkTest, FunctionsHaveTheirDefaults) {
  const auto builder = OnnxBuilder().function(
      function_of("f", {"a"}, {"b"}, {node_of("Relu", {"a"}, {"b"})}, {attribute_of("axis", 3)}));
  const auto network = network_in(builder.bytes());
  ASSERT_TRUE(network.ok());
  const auto& function = network->functions.at(function_key("own", "f", ""));
  EXPECT_THAT(function->inputs, ElementsAre("a"));
  EXPECT_EQ(function->nodes[0].op, "Relu");
  EXPECT_EQ(function->defaults.at("axis").integer, 3);
}

}  // namespace
}  // namespace latebind::onnx
