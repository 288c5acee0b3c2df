#include "formats/pte/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/pte/layout.h"
#include "tests/formats/pte/support.h"

namespace latebind::pte::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

core::Status nowhere(std::span<const std::byte> /*bytes*/) {
  return {};
}

Payload some_payload() {
  static const std::string text = "payload";
  return Payload::of(std::as_bytes(std::span(text)));
}

TEST(PteWriterTest, WhatIsWrittenIsReadBack) {
  const AlignedBytes file(made(small_spec()));
  const auto program = read_program(file.span());
  ASSERT_TRUE(program.ok()) << program.status().message();
  ASSERT_EQ(program->methods.size(), 1U);
  const Method& method = program->methods[0];
  EXPECT_EQ(method.name, "forward");
  EXPECT_EQ(method.delegate_calls, 1U);
  EXPECT_EQ(method.kernel_calls + method.other_instructions, 0U);
  ASSERT_EQ(method.inputs.size(), 2U);
  const Tensor& ids = *method.inputs[0].tensor;
  EXPECT_EQ(method.inputs[0].name, "ids");
  EXPECT_EQ(method.inputs[1].name, "image");
  EXPECT_EQ(method.outputs.at(0).name, "vector");
  EXPECT_EQ(type_text(ids.type), "i64");
  EXPECT_THAT(ids.sizes, ElementsAre(8, 256));
  EXPECT_THAT(ids.dim_order, ElementsAre(0, 1));
  EXPECT_EQ(ids.dynamism, Dynamism::kBounded);
  EXPECT_FALSE(ids.is_planned);
  const Tensor& image = *method.inputs[1].tensor;
  EXPECT_EQ(image.dynamism, Dynamism::kStatic);
  EXPECT_THAT(image.dim_order, ElementsAre(0, 2, 3, 1));
  const Tensor& vector = *method.outputs.at(0).tensor;
  EXPECT_TRUE(vector.is_planned);
  EXPECT_EQ(vector.memory_id, 1U);
  EXPECT_THAT(method.planned_bytes, ElementsAre(8 * 384 * 4));
  ASSERT_EQ(method.delegates.size(), 1U);
  EXPECT_EQ(method.delegates[0].id, "LatebindBackend");
  EXPECT_EQ(text_of(method.delegates[0].payload), "the payload");
  ASSERT_EQ(method.delegates[0].compile_specs.size(), 1U);
  EXPECT_EQ(method.delegates[0].compile_specs[0].key, "device");
  EXPECT_EQ(text_of(method.delegates[0].compile_specs[0].value), "cpu");
  EXPECT_EQ(program->constants, 0U);
}

TEST(PteWriterTest, PayloadBeginsAtAPageUnlessToldOtherwise) {
  for (const std::size_t alignment : {16U, 4096U, 65536U}) {
    ProgramSpec spec = small_spec();
    spec.payload_alignment = alignment;
    const AlignedBytes file(made(spec));
    const auto program = read_program(file.span());
    ASSERT_TRUE(program.ok()) << program.status().message();
    ASSERT_EQ(program->segments.size(), 1U);
    EXPECT_EQ(program->segments[0].offset % alignment, 0U);
    EXPECT_EQ(program->segments[0].offset + program->segments[0].size, file.span().size());
  }
  EXPECT_EQ(ProgramSpec{}.payload_alignment, 4096U);
}

TEST(PteWriterTest, TheSameInputGivesTheSameBytes) {
  EXPECT_EQ(made(small_spec()), made(small_spec()));
}

TEST(PteWriterTest, PlannedTensorsDoNotOverlap) {
  ProgramSpec spec = small_spec();
  spec.plan_inputs = true;
  spec.outputs.push_back({.type = ScalarType::kBool});
  spec.outputs.push_back({.type = ScalarType::kF64, .sizes = {0, 4}});
  spec.outputs.push_back({.type = ScalarType::kF32, .sizes = {1}});
  const AlignedBytes file(made(spec));
  const auto program = read_program(file.span());
  ASSERT_TRUE(program.ok()) << program.status().message();
  const Method& method = program->methods[0];
  std::uint64_t end = 0;
  for (const auto* values : {&method.inputs, &method.outputs}) {
    for (const Value& value : *values) {
      ASSERT_TRUE(value.tensor && value.tensor->is_planned);
      EXPECT_GE(value.tensor->memory_offset, end);
      EXPECT_EQ(value.tensor->memory_offset % 64, 0U);
      end = value.tensor->memory_offset + size_of(static_cast<ScalarType>(value.tensor->type));
      std::uint64_t bytes = size_of(static_cast<ScalarType>(value.tensor->type));
      for (const auto size : value.tensor->sizes)
        bytes *= static_cast<std::uint64_t>(size);
      end = value.tensor->memory_offset + bytes;
    }
  }
  EXPECT_GE(static_cast<std::uint64_t>(method.planned_bytes.at(0)), end);
}

TEST(PteWriterTest, ATensorWithoutElementsHasMemoryToBeIn) {
  ProgramSpec spec = small_spec();
  spec.outputs = {{.name = "none", .sizes = {0, 2}}};
  const AlignedBytes file(made(spec));
  const auto program = read_program(file.span());
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_THAT(program->methods[0].planned_bytes, ElementsAre(64));
}

TEST(PteWriterTest, PayloadInTheFlatbufferIsReadBack) {
  ProgramSpec spec = small_spec();
  spec.inline_payload = true;
  const AlignedBytes file(made(spec, "inside"));
  const auto program = read_program(file.span());
  ASSERT_TRUE(program.ok()) << program.status().message();
  const Delegate& delegate = program->methods[0].delegates.at(0);
  EXPECT_TRUE(delegate.is_inline);
  EXPECT_EQ(text_of(delegate.payload), "inside");
  EXPECT_EQ(delegate.payload_offset % 16, 0U);
  EXPECT_TRUE(program->segments.empty());
}

TEST(PteWriterTest, PayloadComesInPartsAndIsNeverHeld) {
  const std::string part(1 << 20, 'x');
  constexpr std::size_t kParts = 64;
  const Payload payload{part.size() * kParts, [&](const Sink& sink) {
                          for (std::size_t i = 0; i < kParts; ++i) {
                            if (core::Status status = sink(std::as_bytes(std::span(part))); !status.ok()) return status;
                          }
                          return core::Status();
                        }};
  std::size_t largest = 0;
  std::size_t all = 0;
  const core::Status status = write_program(small_spec(), payload, [&](std::span<const std::byte> bytes) {
    largest = std::max(largest, bytes.size());
    all += bytes.size();
    return core::Status();
  });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(largest, part.size());
  EXPECT_GT(all, part.size() * kParts);
}

TEST(PteWriterTest, AFailingSinkEndsTheWriting) {
  int calls = 0;
  const core::Status status = write_program(small_spec(), some_payload(), [&](std::span<const std::byte>) {
    ++calls;
    return calls == 2 ? core::Status(core::StatusCode::kDiskFull, "full") : core::Status();
  });
  EXPECT_EQ(status.code(), core::StatusCode::kDiskFull);
  EXPECT_EQ(status.message(), "full");
  EXPECT_EQ(calls, 2);
}

TEST(PteWriterTest, APayloadOfAnotherSizeIsRefused) {
  const std::string text = "payload";
  for (const std::uint64_t said : {std::uint64_t{6}, std::uint64_t{8}}) {
    for (const bool is_inline : {false, true}) {
      Payload payload = some_payload();
      payload.size = said;
      ProgramSpec spec = small_spec();
      spec.inline_payload = is_inline;
      const core::Status status = write_program(spec, payload, nowhere);
      EXPECT_EQ(status.code(), core::StatusCode::kInvalidArgument);
      EXPECT_THAT(status.message(), HasSubstr(said == 6 ? "longer" : "shorter"));
    }
  }
}

struct WriterRefusal {
  const char* name;
  void (*spoil)(ProgramSpec&, Payload&);
  const char* text;
};

void PrintTo(const WriterRefusal& refusal, std::ostream* out) {
  *out << refusal.name;
}

class PteWriterRefusalTest : public ::testing::TestWithParam<WriterRefusal> {};

TEST_P(PteWriterRefusalTest, NamesWhatIsWrongAndWritesNothing) {
  ProgramSpec spec = small_spec();
  Payload payload = some_payload();
  GetParam().spoil(spec, payload);
  bool written = false;
  const core::Status status = write_program(spec, payload, [&](std::span<const std::byte>) {
    written = true;
    return core::Status();
  });
  EXPECT_EQ(status.code(), core::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr(GetParam().text));
  EXPECT_EQ(status.message().find('\n'), std::string::npos);
  EXPECT_FALSE(written);
}

const WriterRefusal kWriterRefusals[] = {
    {"NoMethod", [](ProgramSpec& spec, Payload&) { spec.method.clear(); }, "the method has no name"},
    {"NoBackend", [](ProgramSpec& spec, Payload&) { spec.backend.clear(); }, "the delegate has no id"},
    {"NoPayload", [](ProgramSpec&, Payload& payload) { payload.size = 0; }, "is missing"},
    {"HugePayload", [](ProgramSpec&, Payload& payload) { payload.size = std::uint64_t{1} << 41U; }, "too large"},
    {"NoKey", [](ProgramSpec& spec, Payload&) { spec.compile_specs[0].key.clear(); }, "has no key"},
    {"Tensors", [](ProgramSpec& spec, Payload&) { spec.inputs.resize(kTensorsMax + 1); }, "the limit of each is 1024"},
    {"Rank", [](ProgramSpec& spec, Payload&) { spec.inputs[0].sizes.assign(17, 1); }, "'ids' has 17 dimensions"},
    {"Negative", [](ProgramSpec& spec, Payload&) { spec.outputs[0].sizes[0] = -1; }, "'vector' has the dimension -1"},
    {"Tebibyte",
     [](ProgramSpec& spec, Payload&) {
       spec.inputs[0].sizes = {1 << 30, 1 << 30};
     },
     "tebibyte"},
    // 2^64 bytes, which are 0 to code that multiplies before it checks.
    {"TwoToThe64",
     [](ProgramSpec& spec, Payload&) {
       spec.inputs[0] = {.name = "ids", .type = ScalarType::kF32, .sizes = {1 << 30, 1 << 8, 1 << 24}};
     },
     "'ids' is larger than a tebibyte"},
    {"Together",
     [](ProgramSpec& spec, Payload&) {
       spec.outputs.assign(3, {.type = ScalarType::kU8, .sizes = {1 << 30, 1000}});
     },
     "need more than a tebibyte"},
    {"Type", [](ProgramSpec& spec, Payload&) { spec.inputs[0].type = static_cast<ScalarType>(12); }, "type 12"},
    {"ShortOrder", [](ProgramSpec& spec, Payload&) { spec.inputs[1].dim_order.pop_back(); }, "each of them once"},
    {"TwiceInOrder", [](ProgramSpec& spec, Payload&) { spec.inputs[1].dim_order[0] = 1; }, "each of them once"},
    {"Lines", [](ProgramSpec& spec, Payload&) { spec.inputs[0].name = "a\nb"; }, "more than one line"},
    {"Alignment", [](ProgramSpec& spec, Payload&) { spec.payload_alignment = 48; }, "not a power of two"},
    {"LongText", [](ProgramSpec& spec, Payload&) { spec.compile_specs[0].value.assign(2 << 20, 'x'); },
     "bytes in total"},
};

INSTANTIATE_TEST_SUITE_P(All, PteWriterRefusalTest, ::testing::ValuesIn(kWriterRefusals),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace latebind::pte::test
