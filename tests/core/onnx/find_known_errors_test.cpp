#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/core/onnx/onnx_parts.h"

namespace latebind::onnx {
namespace {

using core::ElementType;
using test::OnnxBuilder;
using testing::attribute_from;
using testing::attribute_of;
using testing::function_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Message;
using testing::node_of;
using testing::report_of;
using ::testing::SizeIs;

constexpr std::array<float, 20> kTable{};
const test::OnnxDims kDims{"n", "t"};

OnnxBuilder with_x() {
  return OnnxBuilder().input("x", ElementType::kF32, kDims);
}

TEST(FindKnownErrorsTest, WhatIsWrongWhateverACallerGivesIsReported) {
  const auto built =
      with_x().node("Relu", {"x"}, {"r"}).node("Erf", {"r"}, {"y"}).output("y", ElementType::kF32, kDims);
  const auto report = report_of(built.bytes(), "Erf\t\tvendor 1.0");
  ASSERT_THAT(report.nodes, SizeIs(1));
  EXPECT_EQ(report.nodes[0].first, 1U);
  EXPECT_EQ(report.nodes[0].second, "is computed differently from ONNX by vendor 1.0");
  EXPECT_THAT(report_of(built.bytes(), "Tan\t\tvendor 1.0").nodes, IsEmpty());
  EXPECT_THAT(report_of(built.bytes(), "Tan\t\tvendor 1.0").bounds, IsEmpty());
}

TEST(FindKnownErrorsTest, AnInputThatIsDeclaredWithoutElementsIsEmptyWhateverACallerGives) {
  for (const bool is_empty : {true, false}) {
    const test::OnnxDims dims = is_empty ? test::OnnxDims{5, 0} : test::OnnxDims{5, "n"};
    const auto built = OnnxBuilder()
                           .input("x", ElementType::kF32, dims)
                           .node("Relu", {"x"}, {"y"})
                           .output("y", ElementType::kF32, dims);
    const auto report = report_of(built.bytes(), "*\tmay:empty\tvendor 1.0");
    EXPECT_THAT(report.nodes, SizeIs(is_empty ? 1 : 0));
    EXPECT_THAT(report.bounds, SizeIs(is_empty ? 0 : 1));
  }
}

TEST(FindKnownErrorsTest, OnlyTheInputsThatMatterAreBounded) {
  const auto built = with_x()
                         .input("z", ElementType::kF32, kDims)
                         .input("flags", ElementType::kI64, kDims)
                         .node("Exp", {"z"}, {"e"})
                         .node("Relu", {"x"}, {"r"})
                         .node("Not", {"flags"}, {"n"})
                         .output("e", ElementType::kF32, kDims);
  const auto report = report_of(built.bytes(), "Exp\tmay:nan\tvendor 1.0");
  EXPECT_THAT(report.nodes, IsEmpty());
  ASSERT_THAT(report.bounds, SizeIs(1));
  const InputBound& bound = report.bounds[0];
  EXPECT_EQ(bound.input, "z");
  EXPECT_EQ(bound.place, 1U);
  EXPECT_EQ(bound.high, 1'152'921'504'606'846'976);
  EXPECT_FALSE(bound.may_be_nan);
}

TEST(FindKnownErrorsTest, IntegersAreAskedToFitIn32BitsBeforeMoreIsAsked) {
  const auto built = OnnxBuilder()
                         .input("i", ElementType::kI64, kDims)
                         .node("Neg", {"i"}, {"y"})
                         .output("y", ElementType::kI64, kDims);
  const auto bound_by = [&](const std::string& table) {
    const auto report = report_of(built.bytes(), table);
    EXPECT_THAT(report.nodes, IsEmpty());
    return report.bounds.size() == 1 ? report.bounds[0].high : 0;
  };
  EXPECT_EQ(bound_by("Neg\tmay:beyond24\tvendor 1.0"), 1'048'576);
  EXPECT_EQ(bound_by("Neg\tmay:wrap\tvendor 1.0"), 2'147'483'647);
  EXPECT_EQ(bound_by("Neg\tmay:nan\tvendor 1.0"), 0);
}

TEST(FindKnownErrorsTest, AnIndexIsBoundedByTheShortestTableThatItIsLookedUpIn) {
  const auto built = OnnxBuilder()
                         .input("ids", ElementType::kI32, kDims)
                         .constant<float>("long", ElementType::kF32, {10, 2}, kTable)
                         .constant<float>("short", ElementType::kF32, {2, 10}, kTable)
                         .node("Flatten", {"ids"}, {"flat"})
                         .node("Cast", {"flat"}, {"wide"}, {{"to", 7}})
                         .node("Gather", {"long", "wide"}, {"a"})
                         .node("Gather", {"long", "ids"}, {"b"}, {{"axis", -1}})
                         .output("a", ElementType::kF32, kDims);
  const std::string table = "Gather\tmay:outside\tvendor 1.0";
  const auto report = report_of(built.bytes(), table);
  EXPECT_THAT(report.nodes, IsEmpty());
  ASSERT_THAT(report.bounds, SizeIs(1));
  EXPECT_EQ(report.bounds[0].low, -2);
  EXPECT_EQ(report.bounds[0].high, 1);
}

TEST(FindKnownErrorsTest, TensorsOfNodesThatSomebodyElseComputesAreAsACallersAndTheNodesAreNotLookedAt) {
  const auto built = with_x().node("Log", {"x"}, {"l"}).node("Exp", {"l"}, {"y"}).output("y", ElementType::kF32, kDims);
  const std::string table = "Exp\tmay:minus-inf\tvendor 1.0\nLog\t\tvendor 1.0";
  EXPECT_THAT(report_of(built.bytes(), "Exp\tmay:minus-inf\tvendor 1.0").nodes, SizeIs(1));
  EXPECT_THAT(report_of(built.bytes(), table, {0}).nodes, IsEmpty());
  // The same where the node itself is wrong.
  const auto report = report_of(built.bytes(), table);
  ASSERT_THAT(report.nodes, SizeIs(1));
  EXPECT_EQ(report.nodes[0].first, 0U);
}

TEST(FindKnownErrorsTest, ANameThatNothingGivesMayBeAnything) {
  const auto built = OnnxBuilder().node("Exp", {"nowhere"}, {"y"}).output("y", ElementType::kF32, kDims);
  EXPECT_THAT(report_of(built.bytes(), "Exp\tmay:nan in:0 run:0\tvendor 1.0").nodes, SizeIs(1));
}

TEST(FindKnownErrorsTest, WhatAVendorMayComputeBeforeARunIsBothConstantAndNot) {
  constexpr std::array<std::int64_t, 1> kAxes{0};
  const auto built = with_x()
                         .constant<std::int64_t>("axes", ElementType::kI64, {1}, kAxes)
                         .node("Identity", {"axes"}, {"same"})
                         .node("ReduceMin", {"x", "same"}, {"y"})
                         .output("y", ElementType::kF32, kDims);
  EXPECT_THAT(report_of(built.bytes(), "ReduceMin\tconst:1\tvendor 1.0").nodes, SizeIs(1));
  EXPECT_THAT(report_of(built.bytes(), "ReduceMin\trun:1\tvendor 1.0").nodes, SizeIs(1));
  EXPECT_THAT(report_of(built.bytes(), "ReduceMin\tconst:0\tvendor 1.0").nodes, IsEmpty());
}

TEST(FindKnownErrorsTest, NodesOfBranchesAreThoseOfTheirNode) {
  Message branch;
  branch.add_message(1, node_of("Exp", {"x"}, {"b"}));
  Message output;
  output.add_bytes(1, "b");
  branch.add_message(12, output);
  const auto built = with_x()
                         .node("Relu", {"x"}, {"r"})
                         .node(node_of("If", {"r"}, {"y"}, {attribute_of("then_branch", branch)}))
                         .output("y", ElementType::kF32, kDims);
  const auto report = report_of(built.bytes(), "Exp\t\tvendor 1.0");
  ASSERT_THAT(report.nodes, SizeIs(1));
  EXPECT_EQ(report.nodes[0].first, 1U);
  EXPECT_THAT(report.nodes[0].second, HasSubstr("has Exp within it, which is computed differently"));
  // What goes in from around it has a bound.
  const auto bounded = report_of(built.bytes(), "Exp\tmay:nan\tvendor 1.0");
  EXPECT_THAT(bounded.nodes, IsEmpty());
  EXPECT_THAT(bounded.bounds, SizeIs(1));
  EXPECT_THAT(report_of(built.bytes(), "If\t\tvendor 1.0").nodes, SizeIs(1));
}

TEST(FindKnownErrorsTest, FunctionsAreLookedAtWithWhatTheirCallerGives) {
  const std::vector<Message> body{node_of("Clip", {"a", "low"}, {"c"}),
                                  node_of("Softmax", {"c"}, {"b"}, {attribute_from("axis", "where")})};
  const auto with_call = [&](const std::vector<Message>& attributes, const std::vector<Message>& defaults) {
    return with_x()
        .function(function_of("f", {"a", "low"}, {"b"}, body, defaults))
        .node(node_of("f", {"x"}, {"y"}, attributes, "own"))
        .output("y", ElementType::kF32, kDims)
        .bytes();
  };
  const std::string zero = "Softmax\tattr:axis=0\tvendor 1.0";
  EXPECT_THAT(report_of(with_call({attribute_of("where", 0)}, {}), zero).nodes, SizeIs(1));
  EXPECT_THAT(report_of(with_call({attribute_of("where", 1)}, {attribute_of("where", 0)}), zero).nodes, IsEmpty());
  EXPECT_THAT(report_of(with_call({}, {attribute_of("where", 0)}), zero).nodes, SizeIs(1));
  EXPECT_THAT(report_of(with_call({}, {}), "Softmax\tattr:axis\tvendor 1.0").nodes, IsEmpty());
  EXPECT_THAT(report_of(with_call({}, {}), "Clip\tno-in:1\tvendor 1.0").nodes, SizeIs(1));
  // Numbers go through.
  EXPECT_THAT(report_of(with_call({}, {}), "Softmax\tmay:nan\tvendor 1.0").bounds, SizeIs(1));
}

TEST(FindKnownErrorsTest, FunctionsThatCallOneAnotherManyTimesAreGivenUpSoonAndCountAsWrong) {
  auto built = with_x();
  for (unsigned i = 0; i < 30; ++i) {
    const std::string next = "f" + std::to_string(i + 1);
    built.function(function_of("f" + std::to_string(i), {"a"}, {"b"},
                               {node_of(next, {"a"}, {"c"}, {}, "own"), node_of(next, {"c"}, {"b"}, {}, "own")}));
  }
  built.function(function_of("f30", {"a"}, {"b"}, {node_of("Relu", {"a"}, {"b"})}))
      .node(node_of("f0", {"x"}, {"y"}, {}, "own"))
      .output("y", ElementType::kF32, kDims);
  const auto begin = std::chrono::steady_clock::now();
  const auto report = report_of(built.bytes(), "Exp\t\tvendor 1.0");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  ASSERT_THAT(report.nodes, SizeIs(1));
  EXPECT_EQ(report.nodes[0].second, "has more nested nodes than are examined");
}

TEST(FindKnownErrorsTest, AFunctionThatCallsItselfCountsAsWrong) {
  const auto built = with_x()
                         .function(function_of("f", {"a"}, {"b"}, {node_of("f", {"a"}, {"b"}, {}, "own")}))
                         .node(node_of("f", {"x"}, {"y"}, {}, "own"))
                         .output("y", ElementType::kF32, kDims);
  const auto report = report_of(built.bytes(), "Exp\t\tvendor 1.0");
  ASSERT_THAT(report.nodes, SizeIs(1));
  EXPECT_THAT(report.nodes[0].second, HasSubstr("nodes that are nested deeper than is examined"));
}

// The errors of a model of x, x + 0 and (1, 0, 2)-transpositions, whose layers stand beside others.
std::vector<std::size_t> places_beside(const std::vector<Message>& nodes) {
  const std::vector<float> zero{0};
  auto built = OnnxBuilder()
                   .input("x", ElementType::kF32, {"n", "b", 2})
                   .constant("zero", ElementType::kF32, {1}, std::span<const float>(zero));
  for (const Message& node : nodes)
    built.node(node);
  const auto report =
      report_of(built.output("y", ElementType::kF32, {}).bytes(), "GRU\tbeside:0=GRU|RNN|Transpose\tvendor 1.0");
  std::vector<std::size_t> places;
  for (const auto& [place, why] : report.nodes)
    places.push_back(place);
  return places;
}

Message transpose_of(const std::string& input, const std::string& output, const std::vector<std::int64_t>& places) {
  return node_of("Transpose", {input}, {output}, {graph::ints_attribute("perm", places)});
}

TEST(FindKnownErrorsTest, OtherNodesMayTakeTheSameNumbersUnderAnotherName) {
  using ::testing::ElementsAre;
  const Message gru = node_of("GRU", {"x"}, {"y"});
  EXPECT_THAT(places_beside({gru}), IsEmpty());
  EXPECT_THAT(places_beside({gru, node_of("Abs", {"x"}, {"a"})}), IsEmpty());
  EXPECT_THAT(places_beside({gru, node_of("RNN", {"y"}, {"a"})}), IsEmpty());
  EXPECT_THAT(places_beside({gru, node_of("RNN", {"x"}, {"a"})}), ElementsAre(0));
  EXPECT_THAT(places_beside({gru, node_of("GRU", {"x"}, {"a"})}), ElementsAre(0, 1));
  EXPECT_THAT(places_beside({gru, transpose_of("x", "a", {1, 0, 2})}), ElementsAre(0));
  // Nodes that may change nothing.
  EXPECT_THAT(places_beside({node_of("Identity", {"x"}, {"i"}), node_of("RNN", {"i"}, {"a"}), gru}), ElementsAre(2));
  EXPECT_THAT(places_beside({node_of("Add", {"zero", "x"}, {"i"}), node_of("RNN", {"i"}, {"a"}), gru}), ElementsAre(2));
  EXPECT_THAT(places_beside({node_of("Add", {"x", "x"}, {"i"}), node_of("RNN", {"i"}, {"a"}), gru}), IsEmpty());
  // Equal nodes, and those that undo one another.
  const Message same = node_of("GRU", {"s"}, {"y"});
  EXPECT_THAT(
      places_beside({node_of("Abs", {"x"}, {"r"}), node_of("Abs", {"x"}, {"s"}), node_of("RNN", {"r"}, {"a"}), same}),
      ElementsAre(3));
  EXPECT_THAT(
      places_beside({node_of("Abs", {"x"}, {"r"}), node_of("Neg", {"x"}, {"s"}), node_of("RNN", {"r"}, {"a"}), same}),
      IsEmpty());
  const Message moved = transpose_of("x", "s", {1, 0, 2});
  EXPECT_THAT(places_beside({moved, same}), IsEmpty());
  EXPECT_THAT(places_beside({moved, transpose_of("x", "t", {1, 0, 2}), node_of("RNN", {"t"}, {"a"}), same}),
              ElementsAre(3));
  EXPECT_THAT(places_beside({moved, transpose_of("s", "t", {1, 0, 2}), node_of("RNN", {"x"}, {"a"}),
                             node_of("GRU", {"t"}, {"y"})}),
              ElementsAre(3));
}

TEST(FindKnownErrorsTest, IndicesOfACallerAreOrdinaryWithinTheDimensionTheyReferTo) {
  for (const std::string op : {"Gather", "GatherElements", "GatherND", "ScatterElements"}) {
    auto built = OnnxBuilder().input("x", ElementType::kF32, {3, 3}).input("at", ElementType::kI64, {2, 1});
    std::vector<std::string> inputs{"x", "at"};
    if (op == "ScatterElements") {
      built.input("z", ElementType::kF32, {2, 1});
      inputs.emplace_back("z");
    }
    const auto report = report_of(built.node(node_of(op, inputs, {"y"})).output("y", ElementType::kF32, {}).bytes(),
                                  op + "\tmay:outside\tvendor 1.0");
    EXPECT_THAT(report.nodes, IsEmpty()) << op;
    ASSERT_THAT(report.bounds, SizeIs(1)) << op;
    EXPECT_EQ(report.bounds[0].input, "at");
    EXPECT_EQ(report.bounds[0].low, -3) << op;
    EXPECT_EQ(report.bounds[0].high, 2) << op;
  }
}

}  // namespace
}  // namespace latebind::onnx
