#include "formats/pte/converter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/formats/pte/stock_program.h"
#include "tests/formats/pte/support.h"

namespace latebind::pte::test {
namespace {

using ::testing::HasSubstr;

struct Converted {
  core::Status status;
  std::string bytes;
};

Converted convert(const std::string& file, const std::string* payload = nullptr) {
  const AlignedBytes aligned(file);
  Conversion conversion;
  if (payload != nullptr) conversion.payload = Payload::of(std::as_bytes(std::span(*payload)));
  Converted converted;
  converted.status = convert_program(aligned.span(), conversion, [&](std::span<const std::byte> part) {
    converted.bytes += text_of(part);
    return core::Status();
  });
  return converted;
}

// The tree packed again without what a conversion may change: equal for two programs that say the same otherwise.
std::string rest_of(const std::string& file) {
  const AlignedBytes aligned(file);
  const auto tree = fb::UnPackProgram(aligned.span().data());
  for (const auto& plan : tree->execution_plan) {
    for (const auto& delegate : plan->delegates) {
      if (delegate->id != "OpenvinoBackend" && delegate->id != "LatebindBackend") continue;
      delegate->id.clear();
      if (delegate->processed->location == fb::DataLocation::INLINE) {
        tree->backend_delegate_data[delegate->processed->index]->data.clear();
      }
    }
  }
  for (const auto& segment : tree->segments)
    *segment = {};
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::Program::Pack(builder, tree.get()), fb::ProgramIdentifier());
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

// Positions at which two texts of one length differ.
std::vector<std::size_t> differences(const std::string& a, const std::string& b) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] != b[i]) all.push_back(i);
  }
  return all;
}

class PteConverterTest : public ::testing::TestWithParam<bool> {};

TEST_P(PteConverterTest, WithoutAModelOnlyTheLettersOfTheIdChange) {
  const std::string old = stock_file(GetParam(), "a blob of OpenVINO");
  const Converted converted = convert(old);
  ASSERT_TRUE(converted.status.ok()) << converted.status.message();
  std::string expected = old;
  std::size_t count = 0;
  for (auto at = expected.find("OpenvinoBackend"); at != std::string::npos; at = expected.find("OpenvinoBackend")) {
    expected.replace(at, 15, "LatebindBackend");
    ++count;
  }
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(converted.bytes, expected);
}

TEST_P(PteConverterTest, AnotherPayloadOfAnySizeLeavesTheRestAsItWas) {
  const bool is_inline = GetParam();
  for (const std::size_t old_size : {1U, 18U, 127U, 128U, 5000U}) {
    const std::string old = stock_file(is_inline, std::string(old_size, 'o'));
    for (const std::size_t new_size : {1U, 17U, 128U, 129U, 4096U, 70000U}) {
      const std::string payload(new_size, 'p');
      const Converted converted = convert(old, &payload);
      ASSERT_TRUE(converted.status.ok()) << converted.status.message();
      const AlignedBytes before(old);
      const AlignedBytes after(converted.bytes);
      const auto was = read_program(before.span());
      const auto is = read_program(after.span());
      ASSERT_TRUE(was.ok() && is.ok()) << old_size << " to " << new_size << ": " << is.status().message();
      EXPECT_EQ(rest_of(old), rest_of(converted.bytes));
      for (std::size_t m = 0; m < was->methods.size(); ++m) {
        for (std::size_t d = 0; d < was->methods[m].delegates.size(); ++d) {
          const Delegate& from = was->methods[m].delegates[d];
          const Delegate& to = is->methods[m].delegates[d];
          const bool is_ours = from.id == kStockBackendId;
          EXPECT_EQ(to.id, is_ours ? kBackendId : from.id);
          EXPECT_EQ(text_of(to.payload), is_ours ? payload : text_of(from.payload));
          EXPECT_EQ(to.payload_offset % (is_inline ? 16 : 128), 0U);
        }
      }
      for (std::size_t i = 0; i < was->segments.size(); ++i) {
        if (!is_inline && i == 2) continue;
        const auto text = [](const AlignedBytes& file, const Segment& segment) {
          return text_of(file.span().subspan(segment.offset, segment.size));
        };
        EXPECT_EQ(text(before, was->segments[i]), text(after, is->segments[i])) << i;
        EXPECT_EQ(is->segments[i].offset % 128, 0U);
      }
    }
  }
}

TEST(PteConverterTest, InSegmentsOnlyTheIdAndTheSegmentsFiguresChangeInTheFlatbuffer) {
  const std::string old = stock_file(false, std::string(1000, 'o'));
  const std::string payload(100000, 'p');
  const Converted converted = convert(old, &payload);
  ASSERT_TRUE(converted.status.ok()) << converted.status.message();
  const AlignedBytes before(old);
  const auto layout = read_layout(before.span());
  ASSERT_TRUE(layout.ok());
  const auto changed =
      differences(old.substr(0, layout->program_size), converted.bytes.substr(0, layout->program_size));
  // Two ids of 8 letters, three figures of segments and the size of them all, of each at most 4 bytes.
  EXPECT_LE(changed.size(), 2U * 8 + 4 * 4);
  EXPECT_GE(changed.size(), 2U * 8 + 4);
}

TEST_P(PteConverterTest, TheSamePayloadAgainGivesTheSameFileButForTheId) {
  const std::string payload(1024, 'o');
  const std::string old = stock_file(GetParam(), payload);
  const Converted replaced = convert(old, &payload);
  ASSERT_TRUE(replaced.status.ok()) << replaced.status.message();
  EXPECT_EQ(replaced.bytes, convert(old).bytes);
}

INSTANTIATE_TEST_SUITE_P(Payloads, PteConverterTest, ::testing::Bool(),
                         [](const auto& given) { return given.param ? "Inline" : "Segment"; });

TEST(PteConverterTest, ProgramsOfTheWriterWithTheStockIdAreConvertedAsWell) {
  for (const bool is_inline : {false, true}) {
    ProgramSpec spec = small_spec();
    spec.backend = kStockBackendId;
    spec.inline_payload = is_inline;
    const std::string payload = "the other payload, which is longer";
    const Converted converted = convert(made(spec), &payload);
    ASSERT_TRUE(converted.status.ok()) << converted.status.message();
    spec.backend = kBackendId;
    if (!is_inline) {
      EXPECT_EQ(converted.bytes, made(spec, payload));
    }
    EXPECT_EQ(rest_of(converted.bytes), rest_of(made(spec, payload)));
  }
}

TEST(PteConverterTest, AFlatbufferWithoutTheExtendedHeaderStaysOne) {
  fb::ProgramT tree = stock_tree(true);
  tree.constant_segment.reset();
  tree.named_data.clear();
  for (const char letter : {'x', 'o', 'y'}) {
    tree.backend_delegate_data.push_back(std::make_unique<fb::BackendDelegateInlineDataT>());
    tree.backend_delegate_data.back()->data.assign(30, static_cast<std::uint8_t>(letter));
  }
  const std::string old = file_of(tree, {}, 128, false);
  const std::string payload(9999, 'p');
  const Converted converted = convert(old, &payload);
  ASSERT_TRUE(converted.status.ok()) << converted.status.message();
  EXPECT_EQ(rest_of(old), rest_of(converted.bytes));
  const AlignedBytes file(converted.bytes);
  const auto program = read_program(file.span());
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(text_of(program->methods[1].delegates.at(0).payload), payload);
}

TEST(PteConverterTest, SaysWhatThereIsToConvert) {
  const AlignedBytes file(stock_file(false, "blob"));
  const auto found = inspect_conversion(file.span(), {});
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->delegates, 2U);
  EXPECT_EQ(found->payloads, 1U);
  ASSERT_EQ(found->arguments.size(), 2U);
  for (const Value& argument : found->arguments) {
    ASSERT_TRUE(argument.tensor);
    EXPECT_EQ(argument.tensor->type, static_cast<std::int8_t>(ScalarType::kF32));
  }
}

TEST(PteConverterTest, AProgramOfOtherBackendsIsRefusedWithTheirNames) {
  const Converted converted = convert(made(small_spec()));
  EXPECT_EQ(converted.status.code(), core::StatusCode::kNotFound);
  EXPECT_THAT(converted.status.message(), HasSubstr("'OpenvinoBackend'; its delegates: 'LatebindBackend'"));
  EXPECT_EQ(converted.bytes, "");
}

TEST(PteConverterTest, NamesOfAFileNeverBreakTheLineOfAnError) {
  ProgramSpec spec = small_spec();
  spec.backend = "Other\nBackend" + std::string(2000, 'x');
  const Converted converted = convert(made(spec));
  EXPECT_THAT(converted.status.message(), HasSubstr(R"('Other\x0aBackendxxx)"));
  EXPECT_LT(converted.status.message().size(), 300U);
}

struct ConverterRefusal {
  const char* name;
  void (*change)(fb::ProgramT&);
  const char* text;
};

void PrintTo(const ConverterRefusal& refusal, std::ostream* out) {
  *out << refusal.name;
}

class PteConverterRefusalTest : public ::testing::TestWithParam<ConverterRefusal> {};

TEST_P(PteConverterRefusalTest, NamesTheReasonAndWritesNothing) {
  fb::ProgramT tree = stock_tree(false);
  GetParam().change(tree);
  const std::string payload = "payload";
  const Converted converted = convert(file_of(tree, stock_segments(false, "blob")), &payload);
  EXPECT_EQ(converted.status.code(), core::StatusCode::kUnsupported);
  EXPECT_THAT(converted.status.message(), HasSubstr(GetParam().text));
  EXPECT_EQ(converted.bytes, "");
}

const ConverterRefusal kConverterRefusals[] = {
    {"SeveralPayloads", [](fb::ProgramT& tree) { tree.execution_plan[1]->delegates[0]->processed->index = 3; },
     "2 different payloads"},
    {"SharedWithAnother", [](fb::ProgramT& tree) { tree.execution_plan[0]->delegates[0]->processed->index = 2; },
     "a delegate of another backend has the same payload"},
    {"Constants", [](fb::ProgramT& tree) { tree.constant_segment->segment_index = 2; }, "holds constants"},
    {"NamedData", [](fb::ProgramT& tree) { tree.named_data[0]->segment_index = 2; }, "is also named data"},
    {"Mutable",
     [](fb::ProgramT& tree) {
       tree.mutable_data_segments.push_back(std::make_unique<fb::SubsegmentOffsetsT>());
       tree.mutable_data_segments[0]->segment_index = 2;
     },
     "the state of tensors"},
};

INSTANTIATE_TEST_SUITE_P(All, PteConverterRefusalTest, ::testing::ValuesIn(kConverterRefusals),
                         [](const auto& given) { return std::string(given.param.name); });

TEST(PteConverterTest, SegmentsOverThePayloadAreRefused) {
  fb::ProgramT tree = stock_tree(false);
  const std::string old = file_of(tree, stock_segments(false, std::string(500, 'o')));
  // The fourth segment's offset, in a file where it is the only 896.
  const std::string from = number_bytes(1024, 8);
  const AlignedBytes file(old);
  const auto program = read_program(file.span());
  ASSERT_TRUE(program.ok());
  const auto layout = read_layout(file.span());
  const std::uint64_t offset = program->segments[3].offset - layout->segment_base;
  std::string spoilt = old;
  const auto at = spoilt.find(number_bytes(offset, 8));
  ASSERT_NE(at, std::string::npos);
  spoilt.replace(at, 8, number_bytes(offset - 128, 8));
  const std::string payload = "payload";
  const Converted converted = convert(spoilt, &payload);
  EXPECT_EQ(converted.status.code(), core::StatusCode::kUnsupported);
  EXPECT_THAT(converted.status.message(), HasSubstr("overlaps"));
}

TEST(PteConverterTest, AnIdThatSomethingElseUsesIsNotChanged) {
  // Both the name of the operator and the id of the delegate are one string.
  flatbuffers::FlatBufferBuilder builder;
  const auto text = builder.CreateString("OpenvinoBackend");
  const auto data = builder.CreateVector(std::vector<std::uint8_t>{1, 2, 3});
  const auto entry = builder.CreateVector(std::vector{fb::CreateBackendDelegateInlineData(builder, data)});
  const auto where = fb::CreateBackendDelegateDataReference(builder, fb::DataLocation::INLINE, 0);
  const auto delegates = builder.CreateVector(std::vector{fb::CreateBackendDelegate(builder, text, where)});
  const auto operators = builder.CreateVector(std::vector{fb::CreateOperator(builder, text)});
  fb::ExecutionPlanBuilder plan(builder);
  plan.add_delegates(delegates);
  plan.add_operators(operators);
  const auto plans = builder.CreateVector(std::vector{plan.Finish()});
  fb::ProgramBuilder program(builder);
  program.add_execution_plan(plans);
  program.add_backend_delegate_data(entry);
  builder.Finish(program.Finish(), fb::ProgramIdentifier());
  const Converted converted = convert({reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()});
  EXPECT_EQ(converted.status.code(), core::StatusCode::kUnsupported);
  EXPECT_THAT(converted.status.message(), HasSubstr("also used elsewhere"));
}

TEST(PteConverterTest, NoFlippedBitMakesItReadOrWriteOutside) {
  const std::string payload(300, 'p');
  for (const bool is_inline : {false, true}) {
    const std::string whole = stock_file(is_inline, "blob");
    for (std::size_t bit = 0; bit < whole.size() * 8; bit += 3) {
      std::string bytes = whole;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
      const Converted converted = convert(bytes, &payload);
      EXPECT_LT(converted.bytes.size(), whole.size() + 3 * 4096 + payload.size());
    }
  }
}

TEST(PteConverterTest, AFailingSinkEndsTheWriting) {
  const AlignedBytes file(stock_file(false, "blob"));
  const core::Status status = convert_program(
      file.span(), {}, [](std::span<const std::byte>) { return core::Status(core::StatusCode::kDiskFull, "full"); });
  EXPECT_EQ(status.code(), core::StatusCode::kDiskFull);
}

}  // namespace
}  // namespace latebind::pte::test
