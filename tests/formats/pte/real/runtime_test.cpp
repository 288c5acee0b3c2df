// What ExecuTorch's own runtime says of the programs that are written here, and that it runs them, by a delegate of
// this test under Latebind's id.
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor_ptr_maker.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/pte/writer.h"
#include "tests/formats/pte/real/converted.h"

namespace latebind::pte {
namespace {

using executorch::aten::SizesType;
using executorch::extension::BufferDataLoader;
using executorch::runtime::ArrayRef;
using executorch::runtime::BackendExecutionContext;
using executorch::runtime::BackendInitContext;
using executorch::runtime::DelegateHandle;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::Span;
using testing::ElementsAre;
using EtCompileSpec = executorch::runtime::CompileSpec;
using EtProgram = executorch::runtime::Program;
template <class T>
using EtResult = executorch::runtime::Result<T>;

// What the delegate was given, and what it gives: the first input doubled, in the input's shape.
struct Seen {
  std::string payload;
  std::vector<std::pair<std::string, std::string>> specs;
  std::vector<const void*> input_data;
};
Seen& seen() {
  static Seen state;
  return state;
}

class Doubler final : public executorch::runtime::BackendInterface {
 public:
  bool is_available() const override { return true; }
  EtResult<DelegateHandle*> init(BackendInitContext& /*context*/, FreeableBuffer* processed,
                                 ArrayRef<EtCompileSpec> specs) const override {
    seen() = {};
    seen().payload.assign(static_cast<const char*>(processed->data()), processed->size());
    for (const auto& spec : specs)
      seen().specs.emplace_back(spec.key, std::string(static_cast<const char*>(spec.value.buffer), spec.value.nbytes));
    return static_cast<DelegateHandle*>(nullptr);
  }
  Error execute(BackendExecutionContext& /*context*/, DelegateHandle* /*handle*/,
                Span<EValue*> arguments) const override {
    const auto& input = arguments[0]->toTensor();
    auto& output = arguments[arguments.size() - 1]->toTensor();
    for (std::size_t i = 0; i + 1 < arguments.size(); ++i)
      seen().input_data.push_back(arguments[i]->toTensor().const_data_ptr());
    const auto resized = executorch::runtime::resize_tensor(output, input.sizes());
    if (resized != Error::Ok) return resized;
    for (ssize_t i = 0; i < input.numel(); ++i)
      output.mutable_data_ptr<float>()[i] = 2 * input.const_data_ptr<float>()[i];
    return Error::Ok;
  }
};

class RuntimeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    executorch::runtime::runtime_init();
    // Once: a suite with parameters comes here again.
    static Doubler backend;
    static const Error registered = executorch::runtime::register_backend({"LatebindBackend", &backend});
    ASSERT_EQ(registered, Error::Ok);
  }
  // A copy whose memory is aligned as the runtime wants it.
  EtResult<EtProgram> load(const std::string& bytes) {
    memory_ = std::make_unique<std::max_align_t[]>(bytes.size() / sizeof(std::max_align_t) + 1);
    std::memcpy(memory_.get(), bytes.data(), bytes.size());
    loader_ = std::make_unique<BufferDataLoader>(memory_.get(), bytes.size());
    return EtProgram::load(loader_.get(), EtProgram::Verification::InternalConsistency);
  }

  std::unique_ptr<std::max_align_t[]> memory_;
  std::unique_ptr<BufferDataLoader> loader_;
};

std::string made(const ProgramSpec& spec, std::string_view payload = "the payload") {
  auto bytes = program_bytes(spec, payload);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return bytes.ok() ? *bytes : std::string();
}

ProgramSpec doubling() {
  ProgramSpec spec;
  spec.inputs = {{.name = "x", .type = ScalarType::kF32, .sizes = {4, 3}, .is_dynamic = true}};
  spec.outputs = {{.name = "y", .type = ScalarType::kF32, .sizes = {4, 3}, .is_dynamic = true}};
  return spec;
}

TEST_F(RuntimeTest, SeesNamesTypesSizesAndMemory) {
  ProgramSpec spec;
  spec.inputs = {{.name = "input_ids", .type = ScalarType::kI64, .sizes = {8, 256}, .is_dynamic = true},
                 {.name = "scalar", .type = ScalarType::kBool},
                 {.name = "image", .type = ScalarType::kU8, .sizes = {1, 3, 5, 7}, .dim_order = {0, 2, 3, 1}}};
  spec.outputs = {{.name = "embedding", .type = ScalarType::kF32, .sizes = {8, 384}, .is_dynamic = true},
                  {.name = "half", .type = ScalarType::kBF16, .sizes = {3}}};
  const auto program = load(made(spec));
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->num_methods(), 1U);
  const auto meta = program->method_meta("forward");
  ASSERT_TRUE(meta.ok());
  ASSERT_EQ(meta->num_inputs(), 3U);
  ASSERT_EQ(meta->num_outputs(), 2U);
  EXPECT_TRUE(meta->uses_backend("LatebindBackend"));
  EXPECT_EQ(meta->num_instructions(), 1U);

  const auto ids = meta->input_tensor_meta(0);
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(meta->num_attributes(), 0U);
  EXPECT_EQ(ids->scalar_type(), executorch::aten::ScalarType::Long);
  EXPECT_THAT(std::vector(ids->sizes().begin(), ids->sizes().end()), ElementsAre(8, 256));
  EXPECT_FALSE(ids->is_memory_planned());
  EXPECT_EQ(ids->nbytes(), 8U * 256 * 8);
  const auto scalar = meta->input_tensor_meta(1);
  ASSERT_TRUE(scalar.ok());
  EXPECT_EQ(scalar->sizes().size(), 0U);
  EXPECT_EQ(scalar->scalar_type(), executorch::aten::ScalarType::Bool);
  const auto image = meta->input_tensor_meta(2);
  ASSERT_TRUE(image.ok());
  EXPECT_THAT(std::vector(image->dim_order().begin(), image->dim_order().end()), ElementsAre(0, 2, 3, 1));
  const auto half = meta->output_tensor_meta(1);
  ASSERT_TRUE(half.ok());
  EXPECT_EQ(half->scalar_type(), executorch::aten::ScalarType::BFloat16);
  EXPECT_TRUE(half->is_memory_planned());
  ASSERT_EQ(meta->num_memory_planned_buffers(), 1U);
  EXPECT_EQ(*meta->memory_planned_buffer_size(0), 8 * 384 * 4 + 64);
}

TEST_F(RuntimeTest, TakesEveryElementTypeAndRank) {
  ProgramSpec spec;
  for (const auto type : {ScalarType::kU8, ScalarType::kI8, ScalarType::kI16, ScalarType::kI32, ScalarType::kI64,
                          ScalarType::kF16, ScalarType::kF32, ScalarType::kF64, ScalarType::kBool, ScalarType::kBF16,
                          ScalarType::kU16, ScalarType::kU32, ScalarType::kU64}) {
    spec.inputs.push_back({.type = type, .sizes = std::vector<std::int32_t>(spec.inputs.size(), 2)});
  }
  spec.outputs = spec.inputs;
  spec.plan_inputs = true;
  const auto program = load(made(spec));
  ASSERT_TRUE(program.ok());
  const auto meta = program->method_meta("forward");
  ASSERT_TRUE(meta.ok());
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
    const auto tensor = meta->input_tensor_meta(i);
    ASSERT_TRUE(tensor.ok()) << i;
    EXPECT_EQ(static_cast<int>(tensor->scalar_type()), static_cast<int>(spec.inputs[i].type));
    EXPECT_EQ(tensor->nbytes(), size_of(spec.inputs[i].type) << i);
    EXPECT_TRUE(tensor->is_memory_planned());
  }
}

// The delegate gets payload and specs as they were given, and the caller's own memory; the output has the input's
// shape.
class RunTest : public RuntimeTest, public testing::WithParamInterface<bool> {};

TEST_P(RunTest, RunsWithTheShapesOfTheCall) {
  ProgramSpec spec = doubling();
  spec.inline_payload = GetParam();
  spec.compile_specs = {{"device", "cpu"}, {"precision", std::string("f32\0", 4)}};
  const std::string bytes = made(spec);
  auto program = load(bytes);
  ASSERT_TRUE(program.ok());
  executorch::extension::Module module(std::make_unique<BufferDataLoader>(memory_.get(), bytes.size()));
  for (const SizesType rows : {2, 4, 1}) {
    std::vector<float> values(static_cast<std::size_t>(rows) * 3, 1.5F);
    const auto input = executorch::extension::from_blob(values.data(), {rows, 3});
    const auto outputs = module.forward(input);
    ASSERT_TRUE(outputs.ok()) << static_cast<int>(outputs.error());
    ASSERT_EQ(outputs->size(), 1U);
    const auto& output = outputs->at(0).toTensor();
    EXPECT_THAT(std::vector(output.sizes().begin(), output.sizes().end()), ElementsAre(rows, 3));
    EXPECT_EQ(output.const_data_ptr<float>()[rows * 3 - 1], 3.0F);
    EXPECT_EQ(seen().input_data.back(), values.data());
  }
  EXPECT_EQ(seen().payload, "the payload");
  ASSERT_EQ(seen().specs.size(), 2U);
  EXPECT_EQ(seen().specs[1].first, "precision");
  EXPECT_EQ(seen().specs[1].second, std::string("f32\0", 4));
  std::vector<float> five(15, 1.0F);
  EXPECT_FALSE(module.forward(executorch::extension::from_blob(five.data(), {5, 3})).ok());
}

INSTANTIATE_TEST_SUITE_P(Payloads, RunTest, testing::Bool(),
                         [](const auto& given) { return given.param ? "Inline" : "Segment"; });

TEST_F(RuntimeTest, CopiesInputsThatHaveAPlaceInThePlan) {
  ProgramSpec spec = doubling();
  spec.plan_inputs = true;
  const std::string bytes = made(spec);
  ASSERT_TRUE(load(bytes).ok());
  executorch::extension::Module module(std::make_unique<BufferDataLoader>(memory_.get(), bytes.size()));
  std::vector<float> values(12, 1.0F);
  const auto outputs = module.forward(executorch::extension::from_blob(values.data(), {4, 3}));
  ASSERT_TRUE(outputs.ok());
  EXPECT_NE(seen().input_data.back(), values.data());
  EXPECT_EQ(outputs->at(0).toTensor().const_data_ptr<float>()[0], 2.0F);
}

// Everything that a converted program of an exporter says: its methods, delegates, tensors and memory.
TEST_F(RuntimeTest, LoadsConvertedProgramsWithTheSameMethods) {
  const std::string payload(5000, 'p');
  for (const bool is_inline : {false, true}) {
    for (const bool replaced : {false, true}) {
      const std::string bytes = test::converted_stock_file(is_inline, replaced ? payload : "");
      const auto program = load(bytes);
      ASSERT_TRUE(program.ok());
      ASSERT_EQ(program->num_methods(), 2U);
      const auto forward = program->method_meta("forward");
      ASSERT_TRUE(forward.ok());
      EXPECT_TRUE(forward->uses_backend("LatebindBackend"));
      EXPECT_TRUE(forward->uses_backend("XnnpackBackend"));
      EXPECT_FALSE(forward->uses_backend("OpenvinoBackend"));
      EXPECT_EQ(*forward->memory_planned_buffer_size(0), 3 * 48);
      const auto output = forward->output_tensor_meta(0);
      ASSERT_TRUE(output.ok());
      EXPECT_THAT(std::vector(output->sizes().begin(), output->sizes().end()), ElementsAre(4, 3));

      executorch::extension::Module module(std::make_unique<BufferDataLoader>(memory_.get(), bytes.size()));
      std::vector<float> values(12, 1.5F);
      const auto outputs = module.execute("encode", executorch::extension::from_blob(values.data(), {4, 3}));
      ASSERT_TRUE(outputs.ok()) << static_cast<int>(outputs.error());
      EXPECT_EQ(outputs->at(0).toTensor().const_data_ptr<float>()[11], 3.0F);
      EXPECT_EQ(seen().payload, replaced ? payload : "a blob");
    }
  }
}

TEST_F(RuntimeTest, RefusesAProgramThatWasCutOff) {
  const std::string bytes = made(doubling());
  EXPECT_FALSE(load(bytes.substr(0, bytes.size() - 1)).ok());
}

}  // namespace
}  // namespace latebind::pte
