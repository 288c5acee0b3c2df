// Programs that others made: cut off, with flipped bits, and hostile ones built on purpose.
#include "formats/pte/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <program_generated.h>

#include <random>
#include <string>
#include <vector>

#include "formats/pte/layout.h"
#include "tests/formats/pte/support.h"

namespace latebind::pte::test {
namespace {

namespace fb = executorch_flatbuffer;
using ::testing::HasSubstr;

// The error of reading, or "" when there is none; reads every byte that the result refers to.
std::string error_of(std::string_view bytes) {
  const AlignedBytes file(bytes);
  const auto program = read_program(file.span());
  if (!program.ok()) {
    EXPECT_EQ(program.status().code(), core::StatusCode::kInvalidModel);
    EXPECT_EQ(program.status().message().find('\n'), std::string::npos);
    EXPECT_FALSE(program.status().message().empty());
    return std::string(program.status().message());
  }
  std::size_t sum = 0;
  for (const Method& method : program->methods) {
    for (const Delegate& delegate : method.delegates) {
      for (const std::byte byte : delegate.payload)
        sum += std::to_integer<std::size_t>(byte);
      for (const DelegateSpec& spec : delegate.compile_specs)
        sum += spec.key.size() + text_of(spec.value).size();
    }
  }
  EXPECT_LT(sum, std::size_t{1} << 40U);
  return {};
}

// A program of our own, changed as a tree and packed again, with the segments as they were.
template <class Change>
std::string changed(const ProgramSpec& spec, Change change) {
  const AlignedBytes file(made(spec));
  const auto layout = read_layout(file.span());
  EXPECT_TRUE(layout.ok());
  const auto tree = fb::UnPackProgram(file.span().data());
  change(*tree);
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::Program::Pack(builder, tree.get()), fb::ProgramIdentifier());
  std::string plain(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
  Layout changed_layout = *layout;
  changed_layout.program_size = plain.size() + kHeaderBytes;
  changed_layout.segment_base = round_up(changed_layout.program_size, 4096);
  const AlignedBytes aligned(plain);
  std::string bytes = number_bytes(read_number(aligned.span(), 0, 4) + kHeaderBytes, 4) + "ET12" +
                      header_bytes(changed_layout) + plain.substr(8);
  bytes.resize(changed_layout.segment_base);
  return bytes + text_of(file.span().subspan(layout->segment_base));
}

TEST(PteReaderTest, EveryLengthThatWasCutOffIsRefused) {
  ProgramSpec spec = small_spec();
  for (const bool is_inline : {false, true}) {
    spec.inline_payload = is_inline;
    spec.payload_alignment = 16;
    const std::string whole = made(spec);
    EXPECT_EQ(error_of(whole), "");
    for (std::size_t size = 0; size < whole.size(); ++size)
      EXPECT_NE(error_of(std::string_view(whole).substr(0, size)), "") << size;
  }
}

TEST(PteReaderTest, NoFlippedBitIsFollowedOutOfTheFile) {
  ProgramSpec spec = small_spec();
  spec.payload_alignment = 16;
  for (const bool is_inline : {false, true}) {
    spec.inline_payload = is_inline;
    const std::string whole = made(spec);
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
      std::string bytes = whole;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
      error_of(bytes);
    }
  }
}

TEST(PteReaderTest, NoRandomBytesAreFollowedOutOfTheFile) {
  std::mt19937 random(7);
  ProgramSpec spec = small_spec();
  spec.payload_alignment = 16;
  const std::string whole = made(spec);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 8; ++i)
      bytes[8 + random() % (bytes.size() - 8)] = static_cast<char>(random());
    error_of(bytes);
  }
}

TEST(PteReaderTest, OtherFilesAreNoPrograms) {
  EXPECT_THAT(error_of(""), HasSubstr("not a program of ExecuTorch"));
  EXPECT_THAT(error_of("PK\x03\x04 and so on"), HasSubstr("not a program of ExecuTorch"));
  EXPECT_THAT(error_of(std::string(100, '\0')), HasSubstr("not a program of ExecuTorch"));
}

TEST(PteReaderTest, AProgramWithoutTheExtendedHeaderIsRead) {
  flatbuffers::FlatBufferBuilder builder;
  fb::ProgramT tree;
  tree.execution_plan.push_back(std::make_unique<fb::ExecutionPlanT>());
  tree.execution_plan[0]->name = "plain";
  builder.Finish(fb::Program::Pack(builder, &tree), fb::ProgramIdentifier());
  const AlignedBytes file({reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()});
  const auto program = read_program(file.span());
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program->methods.at(0).name, "plain");
}

TEST(PteReaderTest, AnAddressThatIsNotAlignedIsTheCallersMistake) {
  const AlignedBytes file("x" + made(small_spec()));
  const auto program = read_program(file.span().subspan(1));
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.status().code(), core::StatusCode::kInvalidArgument);
}

TEST(PteReaderTest, HeadersThatLieAreRefused) {
  const std::string whole = made(small_spec());
  const auto with = [&](std::size_t at, std::uint64_t value, std::size_t count) {
    std::string bytes = whole;
    return error_of(bytes.replace(at, count, number_bytes(value, count)));
  };
  EXPECT_THAT(with(12, 23, 4), HasSubstr("extended header has an invalid size of 23 bytes"));
  EXPECT_THAT(with(12, 0xFFFFFFFF, 4), HasSubstr("extended header"));
  EXPECT_THAT(with(kProgramSizeAt, 0, 8), HasSubstr("declares a program of 0 bytes"));
  EXPECT_THAT(with(kProgramSizeAt, UINT64_MAX, 8), HasSubstr("declares a program of"));
  EXPECT_THAT(with(kSegmentBaseAt, 8, 8), HasSubstr("segments at byte 8"));
  EXPECT_THAT(with(kSegmentBaseAt, UINT64_MAX, 8), HasSubstr("declares segments"));
  EXPECT_THAT(with(kSegmentSizeAt, UINT64_MAX, 8), HasSubstr("declares"));
  EXPECT_THAT(with(kSegmentSizeAt, 3, 8), HasSubstr("segment 0 has 11 bytes"));
  EXPECT_THAT(with(0, 0xFFFFFFF0, 4), HasSubstr("leads nowhere"));
  EXPECT_EQ(with(12, 24, 4), "");
}

using Tree = fb::ProgramT;
struct Hostile {
  const char* name;
  void (*change)(Tree&);
  const char* text;
};

void PrintTo(const Hostile& hostile, std::ostream* out) {
  *out << hostile.name;
}

class PteHostileTest : public ::testing::TestWithParam<Hostile> {};

TEST_P(PteHostileTest, IsRefusedByWhatIsWrong) {
  EXPECT_THAT(error_of(changed(small_spec(), GetParam().change)), HasSubstr(GetParam().text));
}

fb::ExecutionPlanT& plan_of(Tree& tree) {
  return *tree.execution_plan[0];
}
fb::DelegateCallT& call_of(Tree& tree) {
  return *plan_of(tree).chains[0]->instructions[0]->instr_args.AsDelegateCall();
}

const Hostile kHostile[] = {
    {"InputBehindTheValues", [](Tree& tree) { plan_of(tree).inputs[0] = 3; }, "one of the inputs is value 3 of 3"},
    {"NegativeOutput", [](Tree& tree) { plan_of(tree).outputs[0] = -1; }, "one of the outputs is value -1 of 3"},
    {"ArgumentBehindTheValues", [](Tree& tree) { call_of(tree).args[2] = 99; }, "called with value 99 of 3"},
    {"CallOfNoDelegate", [](Tree& tree) { call_of(tree).delegate_index = 1; }, "the delegate 1 of 1"},
    {"NegativeDelegate", [](Tree& tree) { call_of(tree).delegate_index = -1; }, "the delegate -1 of 1"},
    {"NoSuchSegment", [](Tree& tree) { plan_of(tree).delegates[0]->processed->index = 7; }, "segment 7 of 1"},
    {"NoSuchInlineData", [](Tree& tree) { plan_of(tree).delegates[0]->processed->location = fb::DataLocation::INLINE; },
     "entry 0 of 0"},
    {"PayloadNowhere",
     [](Tree& tree) { plan_of(tree).delegates[0]->processed->location = static_cast<fb::DataLocation>(9); },
     "has no place"},
    {"NoPayload", [](Tree& tree) { plan_of(tree).delegates[0]->processed.reset(); }, "has no payload"},
    {"SegmentBehindTheFile", [](Tree& tree) { tree.segments[0]->offset = 1; }, "segment 0 has 11 bytes at 1"},
    {"SegmentThatOverflows",
     [](Tree& tree) {
       tree.segments[0]->offset = 8;
       tree.segments[0]->size = UINT64_MAX;
     },
     "segment 0 has"},
    {"NegativeSize", [](Tree& tree) { plan_of(tree).values[0]->val.AsTensor()->sizes[0] = -5; }, "the dimension -5"},
    {"Rank", [](Tree& tree) { plan_of(tree).values[0]->val.AsTensor()->sizes.assign(1000, 1); },
     "1000 dimensions in a tensor"},
    {"NoMethod", [](Tree& tree) { tree.execution_plan.clear(); }, "it has no method"},
    {"LongName", [](Tree& tree) { plan_of(tree).name.assign(5000, 'x'); }, "the name of a method has 5000 bytes"},
    {"ManyInputs", [](Tree& tree) { plan_of(tree).inputs.assign(2000, 0); }, "2000 inputs; the limit is 1024"},
    {"ManyMethods",
     [](Tree& tree) {
       while (tree.execution_plan.size() <= kMethodsMax)
         tree.execution_plan.push_back(std::make_unique<fb::ExecutionPlanT>());
     },
     "257 methods; the limit is 256"},
};

INSTANTIATE_TEST_SUITE_P(All, PteHostileTest, ::testing::ValuesIn(kHostile),
                         [](const auto& given) { return std::string(given.param.name); });

TEST(PteReaderTest, OtherProgramsAreReadWhole) {
  const std::string bytes = changed(small_spec(), [](Tree& tree) {
    auto second = std::make_unique<fb::ExecutionPlanT>();
    second->name = "helper";
    second->values.push_back(std::make_unique<fb::EValueT>());
    second->values[0]->val.Set(fb::IntT());
    second->values.push_back(std::make_unique<fb::EValueT>());
    second->inputs = {0};
    second->outputs = {1};
    second->chains.push_back(std::make_unique<fb::ChainT>());
    auto call = std::make_unique<fb::InstructionT>();
    call->instr_args.Set(fb::KernelCallT());
    second->chains[0]->instructions.push_back(std::move(call));
    auto move = std::make_unique<fb::InstructionT>();
    move->instr_args.Set(fb::MoveCallT());
    second->chains[0]->instructions.push_back(std::move(move));
    tree.execution_plan.push_back(std::move(second));
    tree.named_data.push_back(std::make_unique<fb::NamedDataT>());
    tree.named_data[0]->key = "weights";
    tree.execution_plan[0]->values[0]->val.AsTensor()->scalar_type = fb::ScalarType::QINT8;
  });
  const AlignedBytes file(bytes);
  const auto program = read_program(file.span());
  ASSERT_TRUE(program.ok()) << program.status().message();
  ASSERT_EQ(program->methods.size(), 2U);
  EXPECT_EQ(program->methods[1].name, "helper");
  EXPECT_EQ(program->methods[1].inputs.at(0).kind, "int");
  EXPECT_EQ(program->methods[1].outputs.at(0).kind, "none");
  EXPECT_EQ(program->methods[1].kernel_calls, 1U);
  EXPECT_EQ(program->methods[1].other_instructions, 1U);
  EXPECT_EQ(program->named_data.at(0), "weights");
  EXPECT_EQ(type_text(program->methods[0].inputs[0].tensor->type), "type 12");
}

}  // namespace
}  // namespace latebind::pte::test
