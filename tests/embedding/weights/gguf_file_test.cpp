// Tensors of GGUF (tests/data/gguf/make.py).
#include "embedding/weights/gguf/gguf_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/model/part_reader.h"
#include "embedding/weights/gguf/header.h"
#include "embedding/weights/gguf/tensor_names.h"
#include "embedding/weights/open_tensors.h"
#include "embedding/weights/safetensors.h"
#include "tests/embedding/support.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using ::testing::HasSubstr;

std::filesystem::path types_file() {
  return testing::data_folder() / "gguf" / "types.gguf";
}

core::Result<GgufFile> read_gguf(std::string bytes) {
  core::FilePart part;
  part.bytes = core::SharedBytes::from_string(std::move(bytes));
  return GgufFile::from_part(std::move(part), "m.gguf");
}

class GgufTypeTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GgufTypeTest, HasTheReferencesNumbersBitForBit) {
  auto part = core::FilePart::open(types_file());
  ASSERT_TRUE(part.ok());
  const auto file = open_tensors(*std::move(part), "types.gguf");
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  const std::string name = "gguf:" + GetParam();
  const auto shape = file->shape_of(name);
  ASSERT_TRUE(shape);
  const auto expected = file->find(name + ".f32", *shape);
  ASSERT_TRUE(expected.ok()) << expected.status().to_string();
  EXPECT_FALSE(expected->copied);
  // In pieces that begin and end anywhere, without computing the others.
  const auto located = file->locate(name, *shape);
  ASSERT_TRUE(located.ok()) << located.status().to_string();
  EXPECT_TRUE(located->copied);
  EXPECT_EQ(located->type, core::ElementType::kF32);
  const core::PartReader reader(file->copies());
  EXPECT_FALSE(reader.in_memory());
  for (const std::size_t step : {std::size_t{4}, std::size_t{36}, std::size_t{1000}, expected->bytes.size()}) {
    std::vector<std::byte> numbers(expected->bytes.size());
    for (std::size_t at = 0; at < numbers.size(); at += step) {
      const auto piece = std::span(numbers).subspan(at, std::min(step, numbers.size() - at));
      ASSERT_TRUE(reader.read(located->offset + at, piece));
    }
    EXPECT_EQ(std::memcmp(numbers.data(), expected->bytes.data(), numbers.size()), 0) << step;
  }
  const auto whole = file->find(name, *shape);
  ASSERT_TRUE(whole.ok());
  ASSERT_EQ(whole->bytes.size(), expected->bytes.size());
  EXPECT_EQ(std::memcmp(whole->bytes.data(), expected->bytes.data(), whole->bytes.size()), 0);
}

INSTANTIATE_TEST_SUITE_P(All, GgufTypeTest,
                         ::testing::Values("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K"));

class GgufGroupsTest : public ::testing::TestWithParam<std::string> {};

// Numbers of four bits are also read as groups, which are the same numbers; llama.cpp computes them in another order.
TEST_P(GgufGroupsTest, AreTheNumbers) {
  auto part = core::FilePart::open(types_file());
  ASSERT_TRUE(part.ok());
  const auto file = open_tensors(*std::move(part), "types.gguf");
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  const std::string name = "gguf:" + GetParam();
  const auto shape = file->shape_of(name);
  const auto located = file->find(name, *shape);
  ASSERT_TRUE(located.ok()) << located.status().to_string();
  const core::PartReader reader(file->copies());
  const std::size_t size = located->bytes.size();
  ASSERT_TRUE(reader.has_four_bits(located->offset, size));
  EXPECT_FALSE(reader.has_four_bits(located->offset + sizeof(float), size - sizeof(float)));
  EXPECT_FALSE(reader.has_four_bits(located->offset, size - sizeof(float)));
  constexpr std::size_t kNumbers = core::FourBitGroup::kNumbers;
  const std::size_t row = size / static_cast<std::size_t>(shape->front());
  for (std::size_t at = 0; at < size; at += row) {
    std::vector<core::FourBitGroup> groups(row / kNumbers / sizeof(float));
    ASSERT_TRUE(reader.read_four_bits(located->offset + at, groups));
    for (std::size_t i = 0; i < groups.size() * kNumbers; ++i) {
      const core::FourBitGroup& group = groups[i / kNumbers];
      const std::size_t place = i % kNumbers;
      const unsigned byte = group.codes[place % group.codes.size()];
      const unsigned code = place < group.codes.size() ? byte & 15U : byte >> 4U;
      float wanted = 0;
      std::memcpy(&wanted, located->bytes.data() + at + i * sizeof(float), sizeof wanted);
      EXPECT_NEAR(group.least + group.step * static_cast<float>(code), wanted,
                  1e-6 * (std::abs(group.least) + std::abs(group.step)))
          << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GgufGroupsTest, ::testing::Values("Q4_0", "Q4_1", "Q4_K"));

TEST(GgufFileTest, OtherTypesHaveNoGroups) {
  auto part = core::FilePart::open(types_file());
  ASSERT_TRUE(part.ok());
  const auto file = open_tensors(*std::move(part), "types.gguf");
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  const core::PartReader reader(file->copies());
  for (const std::string_view type : {"Q5_0", "Q8_0", "Q5_K", "Q6_K"}) {
    const std::string name = fmt::format("gguf:{}", type);
    const auto located = file->find(name, *file->shape_of(name));
    ASSERT_TRUE(located.ok()) << located.status().to_string();
    EXPECT_FALSE(reader.has_four_bits(located->offset, located->bytes.size())) << type;
  }
}

TEST(GgufFileTest, OtherTypesAreRefusedByNameWhenTheyAreAskedFor) {
  const auto file = read_gguf(testing::read_file(types_file()));
  ASSERT_TRUE(file.ok());
  const auto found = file->find("gguf:Q2_K", *file->shape_of("gguf:Q2_K"));
  EXPECT_EQ(found.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(found.status().to_string(), HasSubstr("tensor 'Q2_K' has the type Q2_K; of GGUF, F32, F16, Q4_0"));
}

TEST(GgufFileTest, DamageIsAnError) {
  const std::string whole = testing::read_file(types_file());
  for (std::size_t size = 0; size < 1200; size += 7)
    EXPECT_FALSE(read_gguf(whole.substr(0, size)).ok()) << size;
  for (std::size_t at = 0; at < 1200; at += 3) {
    for (const char byte : {'\0', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = byte;
      const auto file = read_gguf(damaged);
      if (!file.ok()) {
        EXPECT_THAT(file.status().to_string(), HasSubstr("m.gguf"));
      }
    }
  }
}

TEST(GgufFileTest, ALayerHasOneName) {
  const auto part = core::FilePart::open(testing::data_folder() / "gguf" / "bert.gguf");
  ASSERT_TRUE(part.ok());
  const auto header = GgufHeader::read(*part, "bert.gguf");
  ASSERT_TRUE(header.ok()) << header.status().to_string();
  const auto names = GgufNames::of(*header);
  ASSERT_TRUE(names.ok()) << names.status().to_string();
  for (const std::string_view name : {"blk.0.attn_q.weight", "blk.10.attn_q.weight"})
    EXPECT_TRUE(names->rename(name)) << name;
  for (const std::string_view name : {"blk.00.attn_q.weight", "blk.01.attn_q.weight", "blk.+1.attn_q.weight",
                                      "blk.0x1.attn_q.weight", "blk..attn_q.weight"})
    EXPECT_FALSE(names->rename(name)) << name;
}

TEST(GgufFileTest, TensorsThatOverlapAreRefused) {
  std::string bytes = testing::read_file(types_file());
  const std::size_t name = bytes.find("Q4_1.f32");
  ASSERT_NE(name, std::string::npos);
  // The name, the number of dimensions, two of them, the type; then the place.
  const std::size_t place = name + 8 + 4 + 16 + 4;
  bytes.replace(place, 8, std::string(8, '\0'));
  EXPECT_THAT(read_gguf(bytes).status().to_string(), HasSubstr("overlaps another one"));
  bytes.replace(place, 1, "\1");
  EXPECT_THAT(read_gguf(bytes).status().to_string(), HasSubstr("no multiple of the alignment"));
}

}  // namespace
}  // namespace latebind::embedding
