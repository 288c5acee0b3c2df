#include "core/graph/onnx_integer_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/support/onnx_builder.h"

namespace latebind::graph {
namespace {

using core::ElementType;
using test::OnnxBuilder;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Names = std::set<std::string, std::less<>>;

constexpr std::int64_t kToFloat = 1;
constexpr std::int64_t kToInt64 = 7;
constexpr std::array<float, 4> kFloats{};
constexpr std::array<std::int64_t, 2> kIntegers{};

Names integer_nodes(const OnnxBuilder& builder) {
  const core::Model model = builder.model();
  const auto found = read_integer_nodes(model.find(core::ModelFormat::kOnnx)->graph.bytes, "m");
  EXPECT_TRUE(found.ok()) << found.status().to_string();
  return found.ok() ? *found : Names{};
}

TEST(OnnxIntegerNodesTest, FollowsIdsMasksAndShapesAndNoNumbers) {
  const auto builder = OnnxBuilder()
                           .input("ids", ElementType::kI64, {"n", "t"})
                           .input("mask", ElementType::kI64, {"n", "t"})
                           .constant<float>("table", ElementType::kF32, {2, 2}, kFloats)
                           .constant<std::int64_t>("axes", ElementType::kI64, {2}, kIntegers)
                           .node("Unsqueeze", {"mask", "axes"}, {"wide"})          // 0: yes
                           .node("Cast", {"wide"}, {"open"}, {{"to", kToFloat}})   // 1: yes, gives numbers
                           .node("Mul", {"open", "open"}, {"bias"})                // 2: no
                           .node("Gather", {"table", "ids"}, {"rows"})             // 3: no
                           .node("Shape", {"rows"}, {"shape"})                     // 4: no, but gives integers
                           .node("Gather", {"shape", "axes"}, {"size"})            // 5: yes
                           .node("Cast", {"bias"}, {"whole"}, {{"to", kToInt64}})  // 6: no, but gives integers
                           .node("Equal", {"whole", "ids"}, {"same"})              // 7: yes
                           .node("Where", {"same", "open", "open"}, {"chosen"})    // 8: no
                           .node("Not", {"same"}, {"other"})                       // 9: yes
                           .output("chosen", ElementType::kF32, {"n", "t"});
  EXPECT_THAT(integer_nodes(builder), UnorderedElementsAre("Unsqueeze_0", "Cast_1", "Gather_5", "Equal_7", "Not_9"));
}

TEST(OnnxIntegerNodesTest, ProductsOfIntegerMatricesAreWork) {
  const auto builder = OnnxBuilder()
                           .input("a", ElementType::kI8, {2, 2})
                           .input("b", ElementType::kI8, {2, 2})
                           .node("MatMulInteger", {"a", "b"}, {"product"})
                           .node("Add", {"product", "product"}, {"sum"})
                           .output("sum", ElementType::kI32, {2, 2});
  EXPECT_THAT(integer_nodes(builder), IsEmpty());
}

TEST(OnnxIntegerNodesTest, WhatIsNotKnownIsNone) {
  OnnxBuilder::Message foreign;
  foreign.add_bytes(1, "a");
  foreign.add_bytes(2, "b");
  foreign.add_bytes(3, "theirs");
  foreign.add_bytes(4, "Add");
  foreign.add_bytes(7, "com.example");
  OnnxBuilder::Message nameless;
  nameless.add_bytes(1, "a");
  nameless.add_bytes(2, "c");
  nameless.add_bytes(4, "Abs");
  OnnxBuilder::Message graph;
  graph.add_bytes(1, "then_branch");
  graph.add_bytes(6, "");
  OnnxBuilder::Message branch;
  branch.add_bytes(1, "a");
  branch.add_bytes(2, "d");
  branch.add_bytes(3, "branch");
  branch.add_bytes(4, "If");
  branch.add_message(5, graph);
  const auto builder = OnnxBuilder()
                           .input("a", ElementType::kI64, {2})
                           .node(foreign)
                           .node(nameless)
                           .node(branch)
                           .node("Add", {"b", "c"}, {"e"})  // b is not known
                           .node("Abs", {"c"}, {"f"})
                           .node("RandomNormal", {}, {"g"})
                           .node("Neg", {"g"}, {"h"})
                           .output("f", ElementType::kI64, {2});
  EXPECT_THAT(integer_nodes(builder), UnorderedElementsAre("Abs_1"));
}

TEST(OnnxIntegerNodesTest, RefusesWhatIsNoModel) {
  EXPECT_EQ(read_integer_nodes({}, "m").status().code(), core::StatusCode::kInvalidModel);
  const std::string damaged = "\x3a\x02\xff\xff";
  EXPECT_EQ(read_integer_nodes(std::as_bytes(std::span(damaged)), "m").status().code(),
            core::StatusCode::kInvalidModel);
}

}  // namespace
}  // namespace latebind::graph
