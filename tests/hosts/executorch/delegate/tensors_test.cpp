// Tensors of every kind through a program: what both sides know is right, what they do not is refused by name.
//
// "Stock: …" marks what ExecuTorch 1.5.1's own OpenvinoBackend does with the same: ../real/what_stock_does_test.cpp
// shows it.
#include <array>
#include <cstring>

#include "tests/hosts/executorch/delegate/fixture.h"

namespace latebind::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Kind {
  ScalarType type;
  const char* name;
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name;
}

class ElementTypeTest : public DelegateTest, public ::testing::WithParamInterface<Kind> {};

// Stock: refuses u16, u32 and u64, by their numbers ("unsupported scalar type 27").
TEST_P(ElementTypeTest, GoesThroughUnchanged) {
  const std::string name = GetParam().name;
  const auto module = module_of("input x " + name + " 2,3\noutput y identity 0\n",
                                program_of({"x " + name + " 2,3"}, {"y " + name + " 2,3"}));
  HostTensor x(GetParam().type, {2, 3});
  const bool is_wide = GetParam().type == ScalarType::Long || GetParam().type == ScalarType::UInt64;
  for (std::size_t i = 0; i < x.bytes().size(); ++i) {
    x.bytes()[i] = static_cast<std::byte>(GetParam().type == ScalarType::Bool ? i % 2 : i + 1);
    if (is_wide && i % 8 >= 3) x.bytes()[i] = std::byte{0};
  }
  const auto outputs = module->forward({x.value()});
  ASSERT_TRUE(outputs.ok()) << said();
  const auto& y = (*outputs)[0].toTensor();
  ASSERT_EQ(y.nbytes(), x.bytes().size());
  EXPECT_EQ(y.scalar_type(), GetParam().type);
  EXPECT_EQ(std::memcmp(y.const_data_ptr(), x.bytes().data(), y.nbytes()), 0);
}

INSTANTIATE_TEST_SUITE_P(All, ElementTypeTest,
                         ::testing::Values(Kind{ScalarType::Bool, "bool"}, Kind{ScalarType::Char, "i8"},
                                           Kind{ScalarType::Byte, "u8"}, Kind{ScalarType::Short, "i16"},
                                           Kind{ScalarType::UInt16, "u16"}, Kind{ScalarType::Int, "i32"},
                                           Kind{ScalarType::UInt32, "u32"}, Kind{ScalarType::Long, "i64"},
                                           Kind{ScalarType::UInt64, "u64"}, Kind{ScalarType::Half, "f16"},
                                           Kind{ScalarType::BFloat16, "bf16"}, Kind{ScalarType::Float, "f32"},
                                           Kind{ScalarType::Double, "f64"}),
                         [](const auto& each) { return std::string(each.param.name); });

// Stock: computes with what OpenVINO makes of it in 32 bits.
TEST_F(DelegateTest, AnIntegerThatTheDeviceWouldCutIsRefusedByName) {
  const auto module = module_of("input x i64 2\noutput y identity 0\n", program_of({"x i64 2"}, {"y i64 2"}));
  HostTensor x(ScalarType::Long, {2});
  x.fill<std::int64_t>({1, std::int64_t{1} << 40});
  EXPECT_EQ(module->forward({x.value()}).error(), et::Error::NotSupported);
  EXPECT_THAT(said(), HasSubstr("input 'x' has a value that does not fit in 32 bits"));
}

// Stock: fails without a reason.
TEST_F(DelegateTest, RankZeroIsATensorLikeAnyOther) {
  const auto module = module_of("input x f32 -\noutput y plus-one 0\n", program_of({"x f32 -"}, {"y f32 -"}));
  HostTensor x(ScalarType::Float, {});
  x.fill<float>({41});
  const auto outputs = module->forward({x.value()});
  ASSERT_TRUE(outputs.ok()) << said();
  EXPECT_EQ((*outputs)[0].toTensor().dim(), 0);
  EXPECT_THAT(floats((*outputs)[0]), ElementsAre(42));
}

// As two batches of different sizes are: the first request of all, when nothing is known yet of what the devices
// compute.
TEST_F(DelegateTest, ShapesThatTheOperatorsRefuseAreTheCallersMistakeAndRestNoDevice) {
  fake.script("device GPU\ndevice CPU\nfail-shape 5,2 -1 the shapes do not go together\n");
  const auto module = module_of("input x f32 ?,2\noutput y plus-one 0\n", program_of({"x f32 ?8,2"}, {"y f32 ?8,2"}));
  HostTensor refused(ScalarType::Float, {5, 2});
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(module->forward({refused.value()}).error(), et::Error::InvalidArgument);
  EXPECT_THAT(said(), HasSubstr("openvino:GPU works, but could not compute this request"));
  EXPECT_THAT(said(), Not(HasSubstr("rests")));
  HostTensor taken(ScalarType::Float, {3, 2});
  EXPECT_TRUE(module->forward({taken.value()}).ok()) << said();
  EXPECT_EQ(get("active_device"), "openvino:GPU");
}

// Stock: reports the upper bound, with rows of an earlier run behind the true ones.
TEST_F(DelegateTest, ADynamicBatchResizesTheOutput) {
  const auto module = module_of("input x f32 ?,2\noutput y plus-one 0\n", program_of({"x f32 ?8,2"}, {"y f32 ?8,2"}));
  for (const std::int32_t rows : {3, 8, 1, 0, 5}) {
    HostTensor x(ScalarType::Float, {rows, 2});
    std::vector<float> values(static_cast<std::size_t>(rows) * 2);
    std::iota(values.begin(), values.end(), 1.0F);
    x.fill(values);
    const auto outputs = module->forward({x.value()});
    ASSERT_TRUE(outputs.ok()) << rows << ": " << said();
    const auto& y = (*outputs)[0].toTensor();
    EXPECT_EQ(y.size(0), rows);
    for (float& value : values)
      ++value;
    EXPECT_EQ(floats((*outputs)[0]), values);
  }
}

TEST_F(DelegateTest, AnOutputWhoseShapeOnlyTheValuesTellIsResized) {
  const auto module = module_of("input x f32 4,2\noutput y first-rows 0\n", program_of({"x f32 4,2"}, {"y f32 ?4,2"}));
  HostTensor x(ScalarType::Float, {4, 2});
  x.fill<float>({2, 7, 8, 9, 1, 1, 1, 1});
  const auto outputs = module->forward({x.value()});
  ASSERT_TRUE(outputs.ok()) << said();
  EXPECT_EQ((*outputs)[0].toTensor().size(0), 2);
  EXPECT_THAT(floats((*outputs)[0]), ElementsAre(2, 7, 8, 9));
}

TEST_F(DelegateTest, AnOutputThatDoesNotFitTheProgramIsNamed) {
  const auto module = module_of("input x f32 ?,2\noutput y plus-one 0\n", program_of({"x f32 ?8,2"}, {"y f32 ?2,2"}));
  HostTensor x(ScalarType::Float, {3, 2});
  EXPECT_FALSE(module->forward({x.value()}).ok());
  EXPECT_THAT(said(), HasSubstr("output 0 'y' came out as [3,2]"));
  // And the method still works.
  HostTensor small(ScalarType::Float, {2, 2});
  EXPECT_TRUE(module->forward({small.value()}).ok()) << said();
}

// Stock: reads the memory as if it were row-major.
TEST_F(DelegateTest, ChannelsLastInputsAreReadInTheirOrder) {
  auto spec = program_of({"x f32 1,2,2,2"}, {"y f32 1,2,2,2"});
  spec.inputs[0].dim_order = {0, 2, 3, 1};
  const auto module = module_of("input x f32 1,2,2,2\noutput y plus-one 0\n", spec);
  HostTensor x(ScalarType::Float, {1, 2, 2, 2}, {0, 2, 3, 1});
  x.fill<float>({0, 4, 1, 5, 2, 6, 3, 7});  // by pixel: channel 0, channel 1
  const auto outputs = module->forward({x.value()});
  ASSERT_TRUE(outputs.ok()) << said();
  EXPECT_THAT(floats((*outputs)[0]), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST_F(DelegateTest, ChannelsLastOutputsAreWrittenInTheirOrder) {
  auto spec = program_of({"x f32 1,2,2,2"}, {"y f32 1,2,2,2"});
  spec.outputs[0].dim_order = {0, 2, 3, 1};
  const auto module = module_of("input x f32 1,2,2,2\noutput y plus-one 0\n", spec);
  HostTensor x(ScalarType::Float, {1, 2, 2, 2});
  x.fill<float>({0, 1, 2, 3, 4, 5, 6, 7});
  const auto outputs = module->forward({x.value()});
  ASSERT_TRUE(outputs.ok()) << said();
  EXPECT_THAT(floats((*outputs)[0]), ElementsAre(1, 5, 2, 6, 3, 7, 4, 8));
}

TEST_F(DelegateTest, SeveralInputsAndOutputsKeepTheirPlaces) {
  const auto module = module_of(
      "input a f32 2\ninput b f32 2\ninput c i64 1\noutput sum add\noutput second identity 1\noutput third identity "
      "2\n",
      program_of({"a f32 2", "b f32 2", "c i64 1"}, {"sum f32 2", "second f32 2", "third i64 1"}));
  HostTensor a(ScalarType::Float, {2});
  HostTensor b(ScalarType::Float, {2});
  HostTensor c(ScalarType::Long, {1});
  a.fill<float>({1, 2});
  b.fill<float>({10, 20});
  c.fill<std::int64_t>({7});
  const auto outputs = module->forward({a.value(), b.value(), c.value()});
  ASSERT_TRUE(outputs.ok()) << said();
  EXPECT_THAT(floats((*outputs)[1]), ElementsAre(10, 20));
  EXPECT_EQ(*(*outputs)[2].toTensor().const_data_ptr<std::int64_t>(), 7);
}

TEST_F(DelegateTest, ACountThatDoesNotFitTheModelIsNamed) {
  const auto module =
      module_of("input a f32 2\ninput b f32 2\noutput sum add\n", program_of({"a f32 2"}, {"sum f32 2"}));
  HostTensor a(ScalarType::Float, {2});
  EXPECT_FALSE(module->forward({a.value()}).ok());
  EXPECT_THAT(said(), HasSubstr("takes 2 inputs and gives 1 outputs; the program has 2 arguments"));
}

TEST_F(DelegateTest, ATypeThatDoesNotFitTheModelIsNamed) {
  const auto module = module_of("input a f32 ?,2\noutput y identity 0\n", program_of({"a f64 3,2"}, {"y f32 3,2"}));
  HostTensor a(ScalarType::Double, {3, 2});
  EXPECT_EQ(module->forward({a.value()}).error(), et::Error::InvalidType);
  EXPECT_THAT(said(), HasSubstr("input 0 'a' takes f32 [?,2], but f64 [3,2] was given"));
}

TEST_F(DelegateTest, AnOutputsTypeThatDoesNotFitTheModelIsNamed) {
  const auto module = module_of("input a f32 2\noutput y identity 0\n", program_of({"a f32 2"}, {"y i32 2"}));
  HostTensor a(ScalarType::Float, {2});
  EXPECT_EQ(module->forward({a.value()}).error(), et::Error::InvalidType);
  EXPECT_THAT(said(), HasSubstr("output 0 'y' gives f32 [2], but a tensor of i32 [2] was given for it"));
}

TEST_F(DelegateTest, AShapeThatDoesNotFitTheModelIsNamed) {
  const auto module = module_of("input a f32 ?,2\noutput y identity 0\n", program_of({"a f32 ?3,3"}, {"y f32 ?3,2"}));
  HostTensor a(ScalarType::Float, {3, 3});
  EXPECT_EQ(module->forward({a.value()}).error(), et::Error::InvalidArgument);
  EXPECT_THAT(said(), HasSubstr("input 0 'a' takes f32 [?,2], but shape [3,3] was given"));
}

TEST_F(DelegateTest, ARankThatDoesNotFitTheModelIsNamed) {
  const auto module = module_of("input a f32 2\noutput y identity 0\n", program_of({"a f32 2"}, {"y f32 1,2"}));
  HostTensor a(ScalarType::Float, {2});
  EXPECT_EQ(module->forward({a.value()}).error(), et::Error::InvalidArgument);
  EXPECT_THAT(said(), HasSubstr("output 0 'y' gives f32 [2], but a tensor of shape [1,2] was given for it"));
}

}  // namespace
}  // namespace latebind::test
