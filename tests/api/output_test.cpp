// What becomes of the outputs that a run is given, on the fake OpenVINO library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "latebind/latebind.hpp"
#include "tests/api/last_error.h"
#include "tests/api/options.h"
#include "tests/fakes/fake_openvino_library.h"

namespace {

using latebind::test::last_message;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kTwoOutputs =
    "<net/>\nfake-model\ninput x f32 2\noutput same identity 0\noutput more plus-one 0\n";

TEST(OutputTest, TheSameOneTwiceIsRefusedAndKeepsTheMemoryThatIsBoundToIt) {
  const latebind::test::FakeOpenvino fake;
  const auto runtime = latebind::Runtime::create(latebind::test::with_openvino(fake.file()));
  ASSERT_TRUE(runtime.ok());
  auto memory = LB_INIT(lb_model_memory);
  memory.format = LB_FORMAT_BY_FIRST_BYTES;
  memory.graph = kTwoOutputs;
  memory.graph_size = std::string(kTwoOutputs).size();
  lb_model* model = nullptr;
  ASSERT_EQ(lb_model_load_memory(runtime->get(), &memory, nullptr, nullptr, &model), LB_OK) << last_message();

  const std::array<float, 2> values{1, 2};
  const lb_tensor input = latebind::tensor_of(values.data(), {2});
  std::array<float, 2> bound{};
  lb_output* first = nullptr;
  lb_output* second = nullptr;
  ASSERT_EQ(lb_output_create(bound.data(), sizeof(bound), &first), LB_OK);
  ASSERT_EQ(lb_output_create(nullptr, 0, &second), LB_OK);
  const std::array twice{first, first};
  EXPECT_EQ(lb_model_run(model, &input, 1, twice.data(), twice.size(), nullptr), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("outputs 0 and 1 are the same lb_output"));

  const std::array each_once{first, second};
  EXPECT_EQ(lb_model_run(model, &input, 1, each_once.data(), each_once.size(), nullptr), LB_OK) << last_message();
  EXPECT_THAT(bound, ElementsAre(1, 2));
  lb_output_destroy(second);
  lb_output_destroy(first);
  lb_model_destroy(model);
}

}  // namespace
