#include "embedding/weights/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/embedding/support.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using ::testing::HasSubstr;
using ::testing::Not;

core::Result<Safetensors> read_safetensors(const std::string& file) {
  return Safetensors::from_bytes(std::as_bytes(std::span(file.data(), file.size())), "weights.safetensors");
}

core::Result<Safetensors> read_safetensors(std::string_view header, std::size_t data_bytes) {
  // Tests look at the error or at the header alone: the bytes may go.
  return read_safetensors(testing::safetensors(header, data_bytes));
}

void expect_invalid(const core::Result<Safetensors>& result, std::string_view part) {
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidModel);
  EXPECT_THAT(result.status().to_string(), HasSubstr("weights.safetensors"));
  EXPECT_THAT(result.status().to_string(), HasSubstr(part));
  EXPECT_THAT(result.status().to_string(), Not(HasSubstr("\n")));
}

constexpr std::array<std::int64_t, 2> kShape{2, 3};

TEST(SafetensorsTest, FindsTensorsWhereTheyLie) {
  const std::string file =
      testing::safetensors(R"({"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[2,3],"data_offsets":[4,28]},)"
                           R"("y":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}})",
                           28);
  const auto tensors = read_safetensors(file);
  ASSERT_TRUE(tensors.ok()) << tensors.status().to_string();
  EXPECT_EQ(tensors->tensor_count(), 2U);
  EXPECT_TRUE(tensors->contains("x"));
  EXPECT_FALSE(tensors->contains("__metadata__"));
  const auto x = tensors->find("x", kShape);
  ASSERT_TRUE(x.ok());
  EXPECT_EQ(x->type, core::ElementType::kF32);
  EXPECT_EQ(x->offset, file.size() - 24);
  EXPECT_EQ(x->bytes.size(), 24U);
  EXPECT_EQ(static_cast<const void*>(x->bytes.data()), file.data() + file.size() - 24);
  const std::array<std::int64_t, 1> two{2};
  EXPECT_EQ(tensors->find("y", two)->type, core::ElementType::kF16);
}

TEST(SafetensorsTest, RefusesByNameWhatIsMissingOrOfAnotherShape) {
  const std::string file = testing::safetensors(R"({"x":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]}})", 24);
  const auto tensors = read_safetensors(file);
  ASSERT_TRUE(tensors.ok());
  EXPECT_EQ(tensors->find("z", kShape).status().code(), StatusCode::kInvalidModel);
  EXPECT_THAT(tensors->find("z", kShape).status().to_string(), HasSubstr("'z'"));
  EXPECT_THAT(tensors->find("x", kShape).status().to_string(), HasSubstr("[3,2]"));
}

TEST(SafetensorsTest, RefusesOtherTypesOnlyWhenTheyAreAskedFor) {
  const auto tensors = read_safetensors(R"({"i":{"dtype":"I64","shape":[2,3],"data_offsets":[0,48]},)"
                                        R"("n":{"dtype":"NEW9","shape":[7],"data_offsets":[48,50]}})",
                                        50);
  ASSERT_TRUE(tensors.ok()) << tensors.status().to_string();
  EXPECT_EQ(tensors->find("i", kShape).status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(tensors->find("n", kShape).status().to_string(), HasSubstr("NEW9"));
}

TEST(SafetensorsTest, TakesEmptyTensorsAndScalars) {
  EXPECT_TRUE(read_safetensors("{}", 0).ok());
  EXPECT_TRUE(read_safetensors(R"({"e":{"dtype":"F32","shape":[0,4],"data_offsets":[0,0]},)"
                               R"("s":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})",
                               4)
                  .ok());
}

TEST(SafetensorsTest, RefusesFilesThatAreCutShort) {
  expect_invalid(read_safetensors(std::string()), "0 bytes");
  expect_invalid(read_safetensors(std::string("1234567")), "7 bytes");
  const std::string whole = testing::safetensors(R"({"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})", 24);
  ASSERT_TRUE(read_safetensors(whole).ok());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto cut = read_safetensors(whole.substr(0, size));
    ASSERT_FALSE(cut.ok()) << size;
    EXPECT_EQ(cut.status().code(), StatusCode::kInvalidModel) << size;
  }
  expect_invalid(read_safetensors(whole + "x"), "1 bytes at the end belong to no tensor");
}

TEST(SafetensorsTest, RefusesHeadersThatAreTooLong) {
  expect_invalid(read_safetensors("\xff\xff\xff\xff\xff\xff\xff\xff{}"), "18446744073709551615");
  std::string file = testing::safetensors("{}", 64);
  file[3] = 1;  // 16 MiB
  expect_invalid(read_safetensors(file), "at most");
}

TEST(SafetensorsTest, SaysWhatGitLfsHasNotLoaded) {
  expect_invalid(read_safetensors("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 90868376\n"),
                 "git lfs pull");
}

TEST(SafetensorsTest, RefusesWhatIsNoHeader) {
  expect_invalid(read_safetensors("[]", 0), "no JSON object");
  expect_invalid(read_safetensors("{", 0), "not JSON");
  expect_invalid(read_safetensors("{} trailing", 0), "not JSON");
  expect_invalid(read_safetensors("\xff", 0), "not JSON");
  expect_invalid(read_safetensors(R"({"x":[[[[[]]]]]})", 0), "too many levels");
  expect_invalid(read_safetensors(std::string(1000, '['), 0), "too many levels");
  expect_invalid(read_safetensors(R"({"x":1})", 0), "'x'");
  expect_invalid(read_safetensors(R"({"x":{"shape":[1],"data_offsets":[0,4]}})", 4), "dtype");
  expect_invalid(read_safetensors(R"({"x":{"dtype":"F32","data_offsets":[0,4]}})", 4), "shape");
  expect_invalid(read_safetensors(R"({"x":{"dtype":"F32","shape":[1]}})", 4), "data_offsets");
  expect_invalid(read_safetensors(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})", 4), "data_offsets");
  expect_invalid(read_safetensors(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4.5]}})", 4), "data_offsets");
  expect_invalid(read_safetensors(R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4), "dimension -1");
  expect_invalid(read_safetensors(R"({"x":{"dtype":"F32","shape":[1e3],"data_offsets":[0,4]}})", 4), "dimension");
  expect_invalid(read_safetensors(R"({"x":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})", 4),
                 "9 dimensions");
}

TEST(SafetensorsTest, RefusesANameThatStandsThereTwice) {
  expect_invalid(read_safetensors(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                                  R"("x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                                  4),
                 "'x' occurs twice");
}

TEST(SafetensorsTest, RefusesHostileRanges) {
  const auto one = [](std::string_view shape, std::string_view offsets, std::size_t data_bytes) {
    return read_safetensors(
        R"({"x":{"dtype":"F32","shape":)" + std::string(shape) + R"(,"data_offsets":)" + std::string(offsets) + "}}",
        data_bytes);
  };
  expect_invalid(one("[1]", "[4,0]", 8), "outside");
  expect_invalid(one("[1]", "[0,8]", 4), "outside");
  expect_invalid(one("[1]", "[18446744073709551612,18446744073709551615]", 4), "outside");
  expect_invalid(one("[1]", "[18446744073709551615,4]", 4), "outside");
  expect_invalid(one("[2]", "[0,4]", 4), "does not fit");
  // 2^32 * 2^32 elements are 0 when the product overflows.
  expect_invalid(one("[4294967296,4294967296]", "[0,0]", 0), "does not fit");
  expect_invalid(one("[9223372036854775807,4]", "[0,4]", 4), "does not fit");
}

TEST(SafetensorsTest, RefusesOverlapsAndHoles) {
  const auto two = [](std::string_view first, std::string_view second, std::size_t data_bytes) {
    return read_safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)" + std::string(first) +
                                R"(},"b":{"dtype":"F32","shape":[2],"data_offsets":)" + std::string(second) + "}}",
                            data_bytes);
  };
  EXPECT_TRUE(two("[8,16]", "[0,8]", 16).ok());
  expect_invalid(two("[0,8]", "[4,12]", 12), "'b': its data overlaps that of 'a'");
  expect_invalid(two("[0,8]", "[0,8]", 8), "overlaps");
  expect_invalid(two("[0,8]", "[12,20]", 20), "hole");
  expect_invalid(two("[4,12]", "[12,20]", 20), "hole");
  expect_invalid(two("[0,8]", "[8,16]", 20), "belong to no tensor");
}

TEST(SafetensorsTest, NamesFromTheFileStayOnOneLine) {
  expect_invalid(read_safetensors(R"({"a\nb":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4), R"(a\x0ab)");
}

TEST(SafetensorsTest, OpensFilesAndNamesThoseThatAreNotThere) {
  const auto real = Safetensors::open(testing::tiny_bert("bf16") / "model.safetensors");
  ASSERT_TRUE(real.ok()) << real.status().to_string();
  EXPECT_GT(real->tensor_count(), 30U);
  const auto missing = Safetensors::open(testing::data_folder() / "nothing.safetensors");
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(missing.status().to_string(), HasSubstr("nothing.safetensors"));
}

}  // namespace
}  // namespace latebind::embedding
