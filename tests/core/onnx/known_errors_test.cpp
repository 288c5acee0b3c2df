#include "core/onnx/known_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/core/onnx/onnx_parts.h"

namespace latebind::onnx {
namespace {

using core::ElementType;
using core::StatusCode;
using testing::errors_of;
using ::testing::HasSubstr;
using Runtimes = std::vector<std::string>;

// What a table says of an operator without inputs in a version.
std::string reason_for(const std::string& table, const std::string& runtime, const std::string& op) {
  const auto errors = KnownErrors::read(table, "t", Runtimes{runtime});
  Node node;
  node.op = op;
  return errors.ok() ? errors->of({node, {}, {}, {}, {}, {}, {}}) : errors.status().to_string();
}

TEST(KnownErrorsTest, ALineThatMakesNoSenseIsNamed) {
  for (const std::string bad : {"MatMul",
                                "MatMul\tin:1",
                                "\tin:1\tvendor 1",
                                "MatMul\tsometimes:1\tvendor 1",
                                "MatMul\tmay:be\tvendor 1",
                                "MatMul\tin\tvendor 1",
                                "MatMul\tin:x\tvendor 1",
                                "MatMul\tin:1=2\tvendor 1",
                                "MatMul\ttype:0\tvendor 1",
                                "MatMul\trank:0\tvendor 1",
                                "MatMul\tafter:0\tvendor 1",
                                "MatMul\tafter:x=Cast\tvendor 1",
                                "MatMul\tbeside:0\tvendor 1",
                                "+\tin:1\tvendor 1",
                                "+MatMul\tmay:nan\tvendor 1",
                                "MatMul\trun:all\tvendor 1",
                                "MatMul\topen:x\tvendor 1",
                                "MatMul\tmany:0=1\tvendor 1",
                                "MatMul\tany:text\tvendor 1",
                                "MatMul\tmay:nan=1\tvendor 1"}) {
    const auto errors = KnownErrors::read("# A comment\n\nRelu\t\tvendor 1\n" + bad + "\n", "t.tsv", Runtimes{});
    ASSERT_FALSE(errors.ok()) << bad;
    EXPECT_EQ(errors.status().code(), StatusCode::kInvalidArgument);
    std::string shown = bad;
    std::ranges::replace(shown, '\t', ' ');
    EXPECT_THAT(errors.status().to_string(), HasSubstr("t.tsv, line 4: '" + shown + "'"));
  }
}

TEST(KnownErrorsTest, LinesAreOfTheVersionTheyNameAndOfThoseThatNoLineNames) {
  const std::string table = "Relu\t\tvendor 1.0\r\nAbs\t\tvendor 1.1\nNeg\t\tother 1.0";
  const auto is_empty = [&](const Runtimes& runtimes) {
    const auto errors = KnownErrors::read(table, "t", runtimes);
    return !errors.ok() || errors->empty();
  };
  const auto wrong = [&](const std::string& runtime, const std::string& op) { return reason_for(table, runtime, op); };
  EXPECT_TRUE(is_empty({}));
  EXPECT_TRUE(is_empty({"third 1.0"}));
  EXPECT_EQ(wrong("vendor 1.0", "Relu"), "is computed differently from ONNX by vendor 1.0");
  EXPECT_EQ(wrong("vendor 1.0", "Abs"), "");
  EXPECT_EQ(wrong("vendor 1.0", "Neg"), "");
  EXPECT_NE(wrong("vendor 1.0-20931-abc", "Relu"), "");
  // 1.01 is neither, and nobody has shown that it is right.
  EXPECT_NE(wrong("vendor 1.01", "Relu"), "");
  EXPECT_NE(wrong("vendor 1.01", "Abs"), "");
}

TEST(KnownErrorsTest, ALineOfWhatWasMendedHoldsInEveryOlderVersion) {
  const std::string table = "Relu\t\tvendor 2026.4.1\nAbs\t\tvendor before 2026.4.1\nNeg\t\tvendor before 2025.10\n";
  const auto wrong = [&](const std::string& runtime, const std::string& op) { return reason_for(table, runtime, op); };
  EXPECT_EQ(wrong("vendor 2026.4.0-123", "Abs"), "is computed differently from ONNX by vendor before 2026.4.1");
  EXPECT_NE(wrong("vendor 2025.9.3", "Abs"), "");
  EXPECT_NE(wrong("vendor 2025.9.3", "Neg"), "");
  EXPECT_EQ(wrong("vendor 2025.10.0", "Neg"), "");
  EXPECT_EQ(wrong("vendor 2026.4.1-456", "Abs"), "");
  EXPECT_EQ(wrong("vendor 2027.1", "Abs"), "");
  EXPECT_EQ(wrong("other 2025.1", "Abs"), "");
  // What a line names holds where no line names the version, be it older.
  EXPECT_NE(wrong("vendor 2025.9.3", "Relu"), "");
  EXPECT_NE(wrong("vendor 2027.1", "Relu"), "");
}

TEST(KnownErrorsTest, OnlyWhatLinesTakeIsTakenWhereThereAreSuchLines) {
  const std::string table = "+Abs|Neg\t\tvendor 1.0\n+Sin\tattr:exact\tvendor 1.0\nNeg\t\tvendor 1.0\n";
  const auto reason = [&](const std::string& op) { return reason_for(table, "vendor 1.0", op); };
  EXPECT_EQ(reason("Abs"), "");
  EXPECT_EQ(reason("Neg"), "is computed differently from ONNX by vendor 1.0");
  const std::string not_taken =
      "is not among the operators and types that vendor is known to compute as ONNX defines them";
  EXPECT_EQ(reason("Sin"), not_taken);
  EXPECT_EQ(reason("Relu"), not_taken);
  EXPECT_EQ(reason_for(table, "vendor 1.1", "Relu"), not_taken);
  // Of another backend, nothing is known.
  EXPECT_EQ(reason_for(table, "other 1.0", "Relu"), "");
  EXPECT_EQ(reason_for("Neg\t\tvendor 1.0\n", "vendor 1.0", "Relu"), "");
}

// A node with three inputs, the second of which is not given, and the third a constant.
class ConditionTest : public ::testing::Test {
 protected:
  bool holds(const std::string& conditions) {
    const auto errors = errors_of("Op\t" + conditions + "\tvendor 1.0");
    EXPECT_FALSE(errors.empty()) << conditions;
    const std::vector<const ValueRange*> inputs{&first, nullptr, &third};
    const std::array<bool, 3> constants{false, false, true};
    const std::vector<ValueRange> outputs{output};
    return !errors.of({node, inputs, constants, outputs, followers, makers, {}}).empty();
  }
  Attribute integer(std::int64_t number) {
    Attribute made;
    made.integer = number;
    made.text = std::to_string(number);
    return made;
  }

  Node node{.op = "Op", .inputs = {"a", "", "c"}, .outputs = {"y", ""}};
  ValueRange first = ValueRange::between(ElementType::kF32, -1, 1);
  ValueRange third = ValueRange::between(ElementType::kI64, 0, 9);
  ValueRange output = ValueRange::between(ElementType::kF32, -1, 1);
  std::set<std::pair<std::string, std::string>> followers{{"y", "Next"}};
  std::map<std::string, std::string> makers{{"a", "Before"}};
};

TEST_F(ConditionTest, TellOfRanksAndOfOneOfSeveralNeighbours) {
  EXPECT_TRUE(holds("rank:0=out"));  // neither is known
  output.rank = 2;
  EXPECT_TRUE(holds("rank:0=out"));
  first.rank = 2;
  EXPECT_TRUE(holds("rank:0=out"));
  first.rank = 3;
  EXPECT_FALSE(holds("rank:0=out"));
  EXPECT_TRUE(holds("rank:0=3"));
  EXPECT_TRUE(holds("after:0=Other|Before"));
  EXPECT_FALSE(holds("after:0=Other|Another"));
}

TEST_F(ConditionTest, TellOfAttributesInputsAndNeighbours) {
  node.attributes["axis"] = integer(1);
  EXPECT_TRUE(holds(""));
  EXPECT_TRUE(holds("attr:axis"));
  EXPECT_FALSE(holds("attr:other"));
  EXPECT_TRUE(holds("attr:axis=1"));
  EXPECT_FALSE(holds("attr:axis=0"));
  EXPECT_TRUE(holds("attr:axis!=0"));
  EXPECT_FALSE(holds("attr:axis!=1"));
  EXPECT_FALSE(holds("attr:other!=1"));
  EXPECT_TRUE(holds("no-attr:other"));
  EXPECT_FALSE(holds("no-attr:axis"));
  EXPECT_TRUE(holds("opset:11..12"));  // not known
  node.opset = 12;
  EXPECT_TRUE(holds("opset:11..12"));
  EXPECT_FALSE(holds("opset:7..11"));
  EXPECT_FALSE(holds("opset:13..99"));
  EXPECT_TRUE(holds("in:0 no-in:1 in:2 no-in:3"));
  EXPECT_FALSE(holds("in:1"));
  EXPECT_FALSE(holds("no-in:0"));
  EXPECT_TRUE(holds("out:0"));
  EXPECT_FALSE(holds("out:1"));
  EXPECT_TRUE(holds("run:0 const:2"));
  EXPECT_FALSE(holds("const:all"));
  EXPECT_FALSE(holds("const:0"));
  EXPECT_FALSE(holds("run:2"));
  EXPECT_FALSE(holds("run:1"));
  EXPECT_TRUE(holds("run:any"));
  EXPECT_TRUE(holds("type:0=f16|f32"));
  EXPECT_FALSE(holds("type:0=f16"));
  EXPECT_TRUE(holds("any:i64"));
  EXPECT_FALSE(holds("any:u8"));
  EXPECT_TRUE(holds("before:Next"));
  EXPECT_FALSE(holds("before:Other"));
}

TEST_F(ConditionTest, TellOfNumbersThatMayGetThere) {
  for (const std::string_view kind : kNumberKinds) {
    if (kind != "outside") {
      EXPECT_FALSE(holds("may:" + std::string(kind))) << kind;
    }
  }
  first.may_be_nan = first.may_be_subnormal = first.may_be_empty = true;
  EXPECT_TRUE(holds("may:nan may:subnormal may:empty"));
  first.high = 2e30;
  EXPECT_TRUE(holds("may:large may:huge"));
  EXPECT_FALSE(holds("may:inf"));
  first.high = kInfinite;
  EXPECT_TRUE(holds("may:inf"));
  EXPECT_FALSE(holds("may:minus-inf"));
  first.low = -kInfinite;
  EXPECT_TRUE(holds("may:minus-inf"));
  first = ValueRange::between(ElementType::kI64, 0, 16'777'217);
  EXPECT_TRUE(holds("may:beyond24"));
  EXPECT_FALSE(holds("may:beyond31"));
  output = ValueRange::between(ElementType::kI32, 0, 9);
  output.exact_high = 3e9;
  EXPECT_TRUE(holds("may:wrap may:beyond31"));
}

TEST_F(ConditionTest, AnIndexIsOutsideOfWhatIsNotKnownToHaveIt) {
  node.inputs = {"table", "ids"};
  const auto may_be_outside = [&](std::vector<std::int64_t> shape, double low, double high) {
    first.has_shape = !shape.empty();
    first.shape = std::move(shape);
    const ValueRange index = ValueRange::between(ElementType::kI64, low, high);
    const std::vector<const ValueRange*> inputs{&first, &index};
    const std::array<bool, 2> constants{true, false};
    return !errors_of("Op\tmay:outside\tvendor 1.0").of({node, inputs, constants, {}, followers, makers, {}}).empty();
  };
  EXPECT_FALSE(may_be_outside({10, 2}, -10, 9));
  EXPECT_TRUE(may_be_outside({10, 2}, -11, 9));
  EXPECT_TRUE(may_be_outside({10, 2}, 0, 10));
  EXPECT_TRUE(may_be_outside({-1, 2}, 0, 0));
  EXPECT_TRUE(may_be_outside({}, 0, 0));
  node.attributes["axis"] = integer(-1);
  EXPECT_FALSE(may_be_outside({10, 2}, 0, 1));
  EXPECT_TRUE(may_be_outside({10, 2}, 0, 2));
  node.attributes["axis"] = integer(7);
  EXPECT_TRUE(may_be_outside({10, 2}, 0, 0));
}

TEST_F(ConditionTest, WhatIsCountedInTheModelIsComparedWhereTheSizesAreKnown) {
  node.inputs = {"table", "places"};
  const auto may_be_outside = [&](std::vector<std::int64_t> shape, double high, bool is_assumed) {
    first.has_shape = true;
    first.shape = std::move(shape);
    ValueRange index = ValueRange::between(ElementType::kI64, 0, high);
    index.is_size = true;
    index.is_assumed = is_assumed;
    const std::vector<const ValueRange*> inputs{&first, &index};
    const std::array<bool, 2> constants{};
    return !errors_of("Op\tmay:outside\tvendor 1.0").of({node, inputs, constants, {}, followers, makers, {}}).empty();
  };
  EXPECT_FALSE(may_be_outside({5}, 4, false));
  EXPECT_TRUE(may_be_outside({4}, 4, false));
  EXPECT_FALSE(may_be_outside({4}, 4, true));
  EXPECT_FALSE(may_be_outside({-1}, 4, false));
  EXPECT_FALSE(may_be_outside({}, 4, false));
}

TEST_F(ConditionTest, MoreConditionsThanThereIsToChooseFromAreOutside) {
  node = Node{.op = "Compress", .inputs = {"x", "condition"}, .outputs = {"y"}};
  ValueRange condition = ValueRange::between(ElementType::kBool, 0, 1);
  condition.is_size = true;
  const auto may_be_outside = [&](std::vector<std::int64_t> shape, std::vector<std::int64_t> conditions) {
    first.has_shape = !shape.empty();
    first.shape = std::move(shape);
    condition.has_shape = !conditions.empty();
    condition.shape = std::move(conditions);
    const std::vector<const ValueRange*> inputs{&first, &condition};
    const std::array<bool, 2> constants{};
    const auto errors = errors_of("Compress\tmay:outside\tvendor 1.0");
    return !errors.of({node, inputs, constants, {}, followers, makers, {}}).empty();
  };
  EXPECT_FALSE(may_be_outside({2, 3}, {6}));
  EXPECT_TRUE(may_be_outside({2, 3}, {7}));
  EXPECT_TRUE(may_be_outside({2, -1}, {1}));
  EXPECT_TRUE(may_be_outside({}, {1}));
  EXPECT_TRUE(may_be_outside({2, 3}, {}));
  EXPECT_TRUE(may_be_outside({2, 3}, {-1}));
  node.attributes["axis"] = integer(-1);
  EXPECT_FALSE(may_be_outside({2, 3}, {3}));
  EXPECT_FALSE(may_be_outside({-1, 3}, {3}));
  EXPECT_TRUE(may_be_outside({2, 3}, {4}));
  EXPECT_TRUE(may_be_outside({3, -1}, {3}));
}

TEST_F(ConditionTest, TellOfRanksSizesAndWhatMakesAnInput) {
  EXPECT_TRUE(holds("after:0=Before"));
  EXPECT_FALSE(holds("after:0=Other"));
  EXPECT_FALSE(holds("after:1=Before"));
  EXPECT_FALSE(holds("after:2=Before"));
  // A rank that nobody knows may be any.
  EXPECT_TRUE(holds("rank:0=0"));
  EXPECT_TRUE(holds("many:0"));
  EXPECT_FALSE(holds("many:1"));
  first.rank = 1;
  EXPECT_FALSE(holds("rank:0=0"));
  EXPECT_TRUE(holds("rank:0=1"));
  first.has_shape = true;
  first.shape = {1, 1};
  EXPECT_TRUE(holds("rank:0=2"));
  EXPECT_FALSE(holds("rank:0=1"));
  EXPECT_FALSE(holds("many:0"));
  EXPECT_FALSE(holds("open:0"));
  first.shape = {1, -1};
  EXPECT_TRUE(holds("many:0"));
  EXPECT_TRUE(holds("open:0"));
  EXPECT_FALSE(holds("open:2"));  // it is constant
  first.may_be_folded = true;
  EXPECT_FALSE(holds("open:0"));
  first.may_be_folded = false;
  node.inputs = {"", "", "c"};
  EXPECT_TRUE(holds("const:all"));
  EXPECT_FALSE(holds("run:any"));
  node.inputs = {};
  EXPECT_FALSE(holds("const:all"));
  node.inputs = {"a"};
  first.shape = {2};
  EXPECT_TRUE(holds("many:0"));
}

TEST_F(ConditionTest, AnotherDomainAndAnotherOperatorAreNotMeant) {
  node.op = "Other";
  EXPECT_FALSE(holds(""));
  node.op = "Op";
  node.domain = "theirs";
  EXPECT_FALSE(holds(""));
}

TEST_F(ConditionTest, AStarIsAnyOperatorAndKindsAreNamed) {
  first.may_be_nan = true;
  const auto errors = errors_of("*\tmay:nan\tvendor 1.0");
  const std::vector<const ValueRange*> inputs{&first};
  const std::array<bool, 1> constants{false};
  EXPECT_EQ(errors.of({node, inputs, constants, {}, followers, makers, {}}),
            "is computed differently from ONNX by vendor 1.0 of numbers such as nan");
}

}  // namespace
}  // namespace latebind::onnx
