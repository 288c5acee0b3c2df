// Files of torch.save(): those that torch wrote (tests/data/torch/make.py), and hostile ones.
#include "embedding/weights/torch/torch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/tensor/half.h"
#include "embedding/weights/model_weights.h"
#include "embedding/weights/open_tensors.h"
#include "embedding/weights/torch/pickle.h"
#include "tests/embedding/support.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

core::Result<TorchFile> read_torch(std::string bytes) {
  core::FilePart part;
  part.bytes = core::SharedBytes::from_string(std::move(bytes));
  return TorchFile::from_part(std::move(part), "weights.bin");
}

std::filesystem::path torch_data() {
  return testing::data_folder() / "torch";
}

template <class T>
std::vector<T> values_of(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

template <class T>
std::vector<double> doubles_of(std::span<const std::byte> bytes) {
  const auto values = values_of<T>(bytes);
  return {values.begin(), values.end()};
}

std::vector<double> numbers_in(const TensorFile::Stored& stored) {
  const auto halves = [&](float (*convert)(std::uint16_t)) {
    std::vector<double> numbers;
    for (const std::uint16_t half : values_of<std::uint16_t>(stored.bytes))
      numbers.push_back(convert(half));
    return numbers;
  };
  if (stored.type == "F16") return halves(core::from_f16);
  if (stored.type == "BF16") return halves(core::from_bf16);
  if (stored.type == "F32") return doubles_of<float>(stored.bytes);
  if (stored.type == "F64") return doubles_of<double>(stored.bytes);
  if (stored.type == "I64") return doubles_of<std::int64_t>(stored.bytes);
  if (stored.type == "I32") return doubles_of<std::int32_t>(stored.bytes);
  if (stored.type == "I16") return doubles_of<std::int16_t>(stored.bytes);
  if (stored.type == "I8") return doubles_of<std::int8_t>(stored.bytes);
  if (stored.type == "C64") {
    std::vector<double> numbers;
    const auto parts = doubles_of<float>(stored.bytes);
    for (std::size_t i = 0; i < parts.size(); i += 2)
      numbers.push_back(parts[i]);
    return numbers;
  }
  return doubles_of<std::uint8_t>(stored.bytes);
}

void expect_tensors(const TensorFile& file, const json& expected) {
  for (const auto& [name, tensor] : expected.items()) {
    const auto stored = file.stored(name);
    ASSERT_TRUE(stored) << name;
    EXPECT_EQ(stored->type, tensor["type"]) << name;
    EXPECT_EQ(*file.shape_of(name), tensor["shape"].get<std::vector<std::int64_t>>()) << name;
    EXPECT_EQ(numbers_in(*stored), tensor["numbers"].get<std::vector<double>>()) << name;
  }
}

json expected_tensors() {
  return json::parse(testing::read_file(torch_data() / "expected.json"));
}

constexpr std::array kOfState{"zip.bin", "zip_protocol_5.bin", "old.bin", "old_protocol_4.bin"};

TEST(TorchFileTest, HasTheTensorsThatTorchSaved) {
  const json expected = expected_tensors();
  for (const char* name : kOfState) {
    const auto file = read_torch(testing::read_file(torch_data() / name));
    ASSERT_TRUE(file.ok()) << name << ": " << file.status().to_string();
    expect_tensors(*file, expected["state"]);
    EXPECT_FALSE(file->contains("not_a_tensor"));
    EXPECT_EQ(file->tensor_count(), expected["state"].size() + 1) << name;
  }
  const auto network = read_torch(testing::read_file(torch_data() / "network.pt"));
  ASSERT_TRUE(network.ok()) << network.status().to_string();
  expect_tensors(*network, expected["network"]);
}

TEST(TorchFileTest, CopiesOnlyViewsThatAreOutOfOrder) {
  for (const char* name : kOfState) {
    const auto opened = open_tensors(*core::FilePart::open(torch_data() / name), name);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    const std::array<std::int64_t, 2> whole{3, 4};
    const std::array<std::int64_t, 2> turned{4, 3};
    EXPECT_FALSE(opened->find("whole", whole)->copied);
    EXPECT_TRUE(opened->find("turned", turned)->copied);
    const std::byte* const begin = opened->part().bytes.bytes.data();
    EXPECT_EQ(opened->find("whole", whole)->bytes.data(), begin + opened->find("whole", whole)->offset);
    EXPECT_EQ(opened->find("turned", turned)->bytes.data(),
              opened->copies().bytes.bytes.data() + opened->find("turned", turned)->offset);
  }
}

TEST(TorchFileTest, CopiesAreAPartOfTheWeights) {
  ModelWeights weights;
  ASSERT_TRUE(weights.add(*open_tensors(*core::FilePart::open(torch_data() / "network.pt"), "network.pt"), "a/").ok());
  ASSERT_TRUE(weights.add(*open_tensors(*core::FilePart::open(torch_data() / "zip.bin"), "zip.bin"), "b/").ok());
  const auto parts = weights.parts();
  ASSERT_EQ(parts.size(), 3U);
  const std::array<std::int64_t, 2> shape{4, 3};
  const auto turned = weights.find("b/turned", shape);
  ASSERT_TRUE(turned.ok());
  EXPECT_EQ(turned->file, 2U);
  const auto numbers = values_of<float>(parts[2].bytes.bytes.subspan(turned->offset, 48));
  EXPECT_EQ(numbers, (std::vector<float>{0, .5, 1, .125, .625, 1.125, .25, .75, 1.25, .375, .875, 1.375}));
}

TEST(TorchFileTest, RefusesByNameWhatCannotBeComputedWith) {
  const auto file = read_torch(testing::read_file(torch_data() / "zip.bin"));
  ASSERT_TRUE(file.ok());
  const std::array<std::int64_t, 1> three{3};
  for (const char* type : {"F64", "I64", "BOOL"}) {
    const auto refused = file->find(std::string("type.") + type, three).status();
    EXPECT_EQ(refused.code(), StatusCode::kUnsupported);
    EXPECT_THAT(refused.to_string(), HasSubstr(std::string("has the type ") + type));
  }
  const std::array<std::int64_t, 3> many{1, 1000, 1000};
  EXPECT_EQ(file->find("expanded", many).status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(file->find("expanded", many).status().to_string(),
              HasSubstr("tensor 'expanded' is a view that takes 4000000 bytes"));
  EXPECT_FALSE(file->stored("expanded"));
}

TEST(TorchFileTest, RefusesWhatIsMoreThanTensors) {
  const auto program = read_torch(testing::read_file(torch_data() / "program.pt")).status();
  EXPECT_EQ(program.code(), StatusCode::kUnsupported);
  EXPECT_THAT(program.to_string(), HasSubstr("weights.bin: it contains 'torch.nn.modules.container.Sequential'"));
  EXPECT_THAT(program.to_string(), HasSubstr("nothing in the file is executed"));
  EXPECT_THAT(read_torch(testing::read_file(torch_data() / "script.pt")).status().to_string(),
              HasSubstr("TorchScript"));
}

TEST(TorchFileTest, RefusesFilesThatAreCutShort) {
  for (const char* name : kOfState) {
    const std::string whole = testing::read_file(torch_data() / name);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const auto cut = read_torch(whole.substr(0, size)).status();
      ASSERT_THAT(cut.code(), AnyOf(StatusCode::kInvalidModel, StatusCode::kUnsupported)) << name << " " << size;
      ASSERT_THAT(cut.to_string(), Not(HasSubstr("\n")));
    }
  }
}

TEST(TorchFileTest, SaysWhatOtherFilesAre) {
  EXPECT_THAT(read_torch("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n").status().to_string(),
              HasSubstr("git lfs pull"));
  EXPECT_THAT(read_torch("something else").status().to_string(), HasSubstr("not a file of torch.save()"));
  EXPECT_THAT(open_tensors({.bytes = core::SharedBytes::from_string("else")}, "pytorch_model.bin").status().to_string(),
              HasSubstr("not a file of torch.save()"));
  EXPECT_THAT(open_tensors({.bytes = core::SharedBytes::from_string("else")}, "x.safetensors").status().to_string(),
              HasSubstr("not a safetensors file"));
}

TEST(TorchFileTest, NamesCompressedRecordsAndOtherByteOrders) {
  std::string big = testing::read_file(torch_data() / "zip.bin");
  for (std::size_t at = big.find("little"); at != std::string::npos; at = big.find("little"))
    big.replace(at, 6, "bigger");
  EXPECT_THAT(read_torch(big).status().to_string(), HasSubstr("byte order is 'bigger'"));
  std::string packed = testing::read_file(torch_data() / "zip.bin");
  const std::size_t central = packed.find("PK\x01\x02");
  packed[central + 10] = packed[8] = 8;
  EXPECT_EQ(read_torch(packed).status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(read_torch(packed).status().to_string(), HasSubstr("is compressed (method 8)"));
}

// Every byte of the small file is changed in turn: an error, or other numbers, but nothing else.
TEST(TorchFileTest, SurvivesEveryChangedByte) {
  for (const char* name : {"network.pt", "old.bin"}) {
    const std::string whole = testing::read_file(torch_data() / name);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const char value : {'\0', '\x7f', '\xff', static_cast<char>(whole[at] + 1)}) {
        std::string changed = whole;
        changed[at] = value;
        const auto file = read_torch(changed);
        if (!file.ok()) continue;
        for (const std::string& tensor : file->names())
          static_cast<void>(file->stored(tensor));
      }
    }
  }
}

core::Status pickle_error(std::string_view bytes) {
  return read_pickle(bytes).status();
}

TEST(PickleTest, ReadsNumbersTextsAndStructures) {
  using std::string_view_literals::operator""sv;
  const auto pickle = read_pickle(
      "\x80\x02}q\x00(X\x01\x00\x00\x00"
      "aK\x07U\x01"
      "bJ\xfe\xff\xff\xffK\x01\x8a\x02\x00\x80u.rest"sv);
  ASSERT_TRUE(pickle.ok()) << pickle.status().to_string();
  EXPECT_EQ(pickle->size, 30U);
  const PickleValue& root = (*pickle)[pickle->root];
  ASSERT_EQ(root.items.size(), 6U);
  EXPECT_EQ((*pickle)[root.items[0]].text, "a");
  EXPECT_EQ((*pickle)[root.items[1]].number, 7);
  EXPECT_EQ((*pickle)[root.items[2]].text, "b");
  EXPECT_EQ((*pickle)[root.items[3]].number, -2);
  EXPECT_EQ((*pickle)[root.items[5]].number, -32768);
}

TEST(PickleTest, RefusesOpcodesAndClassesByName) {
  using std::string_view_literals::operator""sv;
  EXPECT_THAT(pickle_error("\x80\x02"
                           "cos\nsystem\nX\x02\x00\x00\x00ls\x85R."sv)
                  .to_string(),
              HasSubstr("it contains 'os.system'"));
  EXPECT_THAT(pickle_error("\x80\x04\x8c\x05posix\x8c\x06system\x93."sv).to_string(), HasSubstr("'posix.system'"));
  EXPECT_THAT(pickle_error("ctorch\nload\n."sv).to_string(), HasSubstr("'torch.load'"));
  EXPECT_THAT(pickle_error("(ios\nsystem\n."sv).to_string(), HasSubstr("the opcode INST at byte 1"));
  EXPECT_THAT(pickle_error("\x82\x01."sv).to_string(), HasSubstr("the opcode EXT1 at byte 0"));
  EXPECT_THAT(pickle_error("N2."sv).to_string(), HasSubstr("the opcode DUP at byte 1"));
  EXPECT_THAT(pickle_error("\x80\x06."sv).to_string(), HasSubstr("protocol 6"));
  EXPECT_THAT(pickle_error("\xff."sv).to_string(), HasSubstr("0xff at byte 0 is no opcode"));
}

TEST(PickleTest, RefusesWhatIsDamaged) {
  using std::string_view_literals::operator""sv;
  for (const std::string_view bytes : {""sv,
                                       "."sv,
                                       "N"sv,
                                       "K"sv,
                                       "t."sv,
                                       "u."sv,
                                       "}K\x01s."sv,
                                       "NK\x01s."sv,
                                       "](K\x01u."sv,
                                       "}(K\x01u."sv,
                                       "h\x01."sv,
                                       "j\xff\xff\xff\xff."sv,
                                       "r\xff\xff\xff\xff."sv,
                                       "Nr\xff\xff\xff\x7f."sv,
                                       "X\xff\xff\xff\xff."sv,
                                       "\x8d\xff\xff\xff\xff\xff\xff\xff\xff."sv,
                                       "NNR."sv,
                                       "N)R."sv,
                                       "NNb."sv,
                                       "NN\x93."sv,
                                       "\x8a\xff."sv,
                                       "("sv,
                                       "(N0u."sv,
                                       "ccollections\nOrderedDict\nN\x85R."sv,
                                       "ctorch\nFloatStorage\n)R."sv,
                                       "ctorch\nSize\n)R."sv}) {
    EXPECT_EQ(pickle_error(bytes).code(), StatusCode::kInvalidModel) << ::testing::PrintToString(bytes);
  }
}

// Few bytes must not become much memory.
TEST(PickleTest, LimitsValuesAndItems) {
  EXPECT_THAT(pickle_error(std::string(kPickleValuesMax + 2, ')')).to_string(), HasSubstr("more than 1048576 values"));
  EXPECT_THAT(pickle_error(std::string(kPickleBytesMax + 1, '(')).to_string(), HasSubstr("more than 16777216 bytes"));
  // A list of many pairs, and dictionaries made of it again and again.
  std::string pickle = "ccollections\nOrderedDict\nq";
  pickle += '\0';
  pickle += "(K\x01K\x02tq\x01](";
  for (int i = 0; i < 100'000; ++i)
    pickle += "h\x01";
  pickle += "e\x85q\x02";
  for (int i = 0; i < 1000; ++i)
    pickle += std::string("h\0h\x02R", 5);
  EXPECT_THAT(pickle_error(pickle + ".").to_string(), HasSubstr("more than 4194304 items"));
}

}  // namespace
}  // namespace latebind::embedding
