#include "app/run_inputs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace latebind::app {
namespace {

using core::ElementType;
using core::Shape;

TEST(RunInputsTest, ChoosesOneForOpenDimensionsAndKeepsTheRest) {
  const std::vector<core::TensorInfo> declared{{.name = "ids", .type = ElementType::kI64, .shape = {core::kDynamic, 7}},
                                               {.name = "x", .type = ElementType::kF32, .shape = {}}};
  const auto inputs = make_inputs(declared, {.files = {}, .shapes = {}, .seed = 3});
  ASSERT_TRUE(inputs.ok()) << inputs.status().to_string();
  EXPECT_EQ((*inputs)[0].view.shape, (Shape{1, 7}));
  EXPECT_EQ((*inputs)[1].view.shape.rank(), 0U);
  EXPECT_EQ((*inputs)[0].source, "random, seed 3");
  for (int i = 0; i < 7; ++i) {
    const auto id = static_cast<const std::int64_t*>((*inputs)[0].view.data)[i];
    EXPECT_TRUE(id == 0 || id == 1);
  }
}

TEST(RunInputsTest, RefusesWishesThatDoNotFitByName) {
  const std::vector<core::TensorInfo> declared{{.name = "ids", .type = ElementType::kI64, .shape = {core::kDynamic, 7}},
                                               {.name = "ids=2", .type = ElementType::kI64, .shape = {1}}};
  const auto refusal = [&](const RequestedInputs& requested) {
    return make_inputs(declared, requested).status().to_string();
  };
  EXPECT_NE(refusal({.files = {}, .shapes = {"idz=1x7"}}).find("did you mean ids?"), std::string::npos);
  EXPECT_NE(refusal({.files = {}, .shapes = {"ids=1x8"}}).find("[1,8]"), std::string::npos);
  EXPECT_NE(refusal({.files = {}, .shapes = {"ids=1x7", "ids=2x7"}}).find("twice"), std::string::npos);
  EXPECT_NE(refusal({.files = {}, .shapes = {"ids=1000000000000x7"}}).find("GiB"), std::string::npos);
  // The longest name that fits is meant.
  EXPECT_EQ(refusal({.files = {}, .shapes = {"ids=2=1"}}), "ok");
}

TEST(RunInputsTest, NamesOptionsAsTheClientDoes) {
  RequestedInputs requested{.files = {}, .shapes = {"x"}};
  EXPECT_NE(check_requested_inputs(requested).message().find("as in input x=x.npy"), std::string_view::npos);
  requested.files_option = "--input";
  EXPECT_NE(check_requested_inputs(requested).message().find("as in --input x=x.npy"), std::string_view::npos);
}

}  // namespace
}  // namespace latebind::app
