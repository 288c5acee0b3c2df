#include "core/verification/verification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace latebind::core {
namespace {

using ::testing::HasSubstr;

const std::vector<TensorInfo> kOpen{{"ids", ElementType::kI64, {kDynamic, kDynamic}},
                                    {"mask", ElementType::kI64, {kDynamic, kDynamic}}};
const std::vector<TensorInfo> kFixed{{"x", ElementType::kF32, {2, 3}}};
const std::vector<TensorInfo> kOutput{{"y", ElementType::kF32, {2, 3}}};

// y = x + `offset`.
Comparand adding(float offset, Status status = {}) {
  return {kOutput, [offset, status](std::span<const TensorView> inputs, std::span<OutputTensor> outputs) -> Status {
            LB_RETURN_IF_ERROR(status);
            LB_ASSIGN_OR_RETURN(void* const data, outputs[0].prepare(ElementType::kF32, inputs[0].shape));
            for (std::size_t i = 0; i < 6; ++i)
              static_cast<float*>(data)[i] = static_cast<const float*>(inputs[0].data)[i] + offset;
            return {};
          }};
}

TEST(RandomSamplesTest, OpenDimensionsComeInSeveralSizesThatGoTogether) {
  const auto samples = random_samples(kOpen);
  ASSERT_TRUE(samples.ok());
  std::set<std::string> shapes;
  for (const Sample& sample : *samples) {
    ASSERT_EQ(sample.inputs.size(), 2U);
    EXPECT_EQ(sample.inputs[0].shape, sample.inputs[1].shape);
    shapes.insert(sample.inputs[0].shape.to_string());
  }
  EXPECT_GE(shapes.size(), 4U);
  EXPECT_TRUE(shapes.contains("[1,1]"));
}

TEST(RandomSamplesTest, StaticShapesComeWithSeveralValues) {
  const auto samples = random_samples(kFixed);
  ASSERT_TRUE(samples.ok());
  ASSERT_EQ(samples->size(), 2U);
  const auto* first = static_cast<const float*>((*samples)[0].inputs[0].data);
  const auto* second = static_cast<const float*>((*samples)[1].inputs[0].data);
  EXPECT_FALSE(std::equal(first, first + 6, second));
  const auto again = random_samples(kFixed);
  EXPECT_TRUE(std::equal(first, first + 6, static_cast<const float*>((*again)[0].inputs[0].data)));
}

TEST(RandomSamplesTest, WhatIsBoundedStaysWithinAndWhatIsTooLargeIsLeftOut) {
  const auto bounded = random_samples(std::vector<TensorInfo>{{"x", ElementType::kF32, {kDynamic}, {2}}});
  ASSERT_TRUE(bounded.ok());
  for (const Sample& sample : *bounded)
    EXPECT_LE(sample.inputs[0].shape[0], 2);
  EXPECT_EQ(random_samples(std::vector<TensorInfo>{{"x", ElementType::kF32, {1 << 15, 1 << 15}}}).status().code(),
            StatusCode::kUnsupported);
}

TEST(CompareTest, TellsWhoAgreesFromWhoDoesNot) {
  const auto samples = *random_samples(kFixed);
  const auto same = compare(adding(1), adding(1), samples, Precision::kF32);
  ASSERT_TRUE(same.ok()) << same.status().to_string();
  EXPECT_TRUE(same->agrees());
  EXPECT_EQ(same->outputs[0].difference.elements, 12U);
  EXPECT_THAT(same->text(), HasSubstr("cosine 1.0"));
  const auto other = compare(adding(2), adding(1), samples, Precision::kF32);
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(other->agrees());
  EXPECT_THAT(other->text(), HasSubstr("output 'y': "));
}

TEST(CompareTest, AFailureOfTheDeviceIsItsOwn) {
  const auto samples = *random_samples(kFixed);
  const auto failed =
      compare(adding(1, Status(StatusCode::kDeviceFailed, "boom")), adding(1), samples, Precision::kF32);
  ASSERT_TRUE(failed.ok());
  EXPECT_FALSE(failed->agrees());
  EXPECT_THAT(failed->text(), HasSubstr("boom"));
}

TEST(CompareTest, WhatTheReferenceRefusesIsLeftOut) {
  const auto samples = *random_samples(kFixed);
  int calls = 0;
  Comparand choosy = adding(1);
  choosy.execute = [&calls, run = choosy.execute](auto inputs, auto outputs) {
    return ++calls == 1 ? Status(StatusCode::kInvalidArgument, "not this one") : run(inputs, outputs);
  };
  const auto compared = compare(adding(1), choosy, samples, Precision::kF32);
  ASSERT_TRUE(compared.ok());
  EXPECT_FALSE(compared->samples[0].left_out.ok());
  EXPECT_TRUE(compared->samples[1].left_out.ok());
  EXPECT_EQ(compared->outputs[0].difference.elements, 6U);
  // All of them: then there is nothing to say.
  const auto none =
      compare(adding(1), adding(1, Status(StatusCode::kInvalidArgument, "none")), samples, Precision::kF32);
  EXPECT_EQ(none.status().message(), "none");
}

TEST(CompareTest, OutputsWithoutElementsProveNothing) {
  Sample empty{.name = "empty", .inputs = {{nullptr, ElementType::kF32, {0}, {}}}, .owner = {}};
  const Comparand nothing{kOutput, [](std::span<const TensorView>, std::span<OutputTensor> outputs) {
                            return outputs[0].prepare(ElementType::kF32, {0}).status();
                          }};
  EXPECT_EQ(compare(nothing, nothing, {&empty, 1}, Precision::kF32).status().code(), StatusCode::kUnsupported);
}

TEST(CompareTest, OtherOutputsAndACancelledRunAreErrors) {
  const auto samples = *random_samples(kFixed);
  const std::vector<TensorInfo> renamed{{"z", ElementType::kF32, {2, 3}}};
  Comparand other = adding(1);
  other.outputs = renamed;
  EXPECT_EQ(compare(other, adding(1), samples, Precision::kF32).status().code(), StatusCode::kCountMismatch);
  const Comparand cancelled = adding(1, Status(StatusCode::kCancelled, "enough"));
  EXPECT_EQ(compare(cancelled, adding(1), samples, Precision::kF32).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(compare(adding(1), cancelled, samples, Precision::kF32).status().code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace latebind::core
