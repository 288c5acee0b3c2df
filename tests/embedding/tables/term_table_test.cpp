#include "embedding/tables/term_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "embedding/weights/safetensors.h"

namespace latebind::embedding {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A file with one tensor.
std::string file_of(const std::string& name, const std::string& type, const std::string& shape,
                    const std::string& data) {
  const std::string header = R"({")" + name + R"(":{"dtype":")" + type + R"(","shape":)" + shape +
                             R"(,"data_offsets":[0,)" + std::to_string(data.size()) + "]}}";
  std::uint64_t length = header.size();
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes + header + data;
}

template <class Number>
std::string data_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

core::Result<TermTable> read(const std::string& file) {
  const auto bytes = std::as_bytes(std::span(file));
  LB_ASSIGN_OR_RETURN(const Safetensors opened, Safetensors::from_bytes(bytes, "q/model.safetensors"));
  return TermTable::read(opened);
}

TEST(TermTableTest, EveryTokenCountsOnceAndZerosDoNot) {
  const auto table = read(file_of("weight", "F32", "[4]", data_of<float>({1, 0, 3, 4})));
  ASSERT_TRUE(table.ok()) << table.status().to_string();
  EXPECT_EQ(table->size(), 4U);
  SparseVector weights{.indices = {9, 9}, .values = {9, 9}};
  table->weigh(std::vector<std::int32_t>{3, 1, 0, 3, 3}, {}, weights);
  EXPECT_THAT(weights.indices, ElementsAre(0, 3));
  EXPECT_THAT(weights.values, ElementsAre(1, 4));
  table->weigh(std::vector<std::int32_t>{3, 2, 0}, {.most = 2}, weights);
  EXPECT_THAT(weights.indices, ElementsAre(2, 3));
  table->weigh({}, {}, weights);
  EXPECT_THAT(weights.indices, IsEmpty());
}

TEST(TermTableTest, ReadsShorterNumbers) {
  for (const auto& [type, one] : {std::pair{"F16", std::uint16_t{0x3c00}}, std::pair{"BF16", std::uint16_t{0x3f80}}}) {
    const auto table = read(file_of("weight", type, "[2]", data_of<std::uint16_t>({one, 0})));
    ASSERT_TRUE(table.ok()) << table.status().to_string();
    SparseVector weights;
    table->weigh(std::vector<std::int32_t>{0, 1}, {}, weights);
    EXPECT_THAT(weights.indices, ElementsAre(0));
    EXPECT_THAT(weights.values, ElementsAre(1));
  }
}

TEST(TermTableTest, WhatIsNoTableIsRefusedByName) {
  const auto refusal = [](const std::string& file) {
    const auto table = read(file);
    EXPECT_FALSE(table.ok());
    EXPECT_THAT(table.status().to_string(), HasSubstr("q/model.safetensors"));
    return table.status().to_string();
  };
  EXPECT_THAT(refusal(file_of("weights", "F32", "[1]", data_of<float>({1}))), HasSubstr("no tensor 'weight'"));
  EXPECT_THAT(refusal(file_of("weight", "F32", "[1,2]", data_of<float>({1, 2}))), HasSubstr("the shape [1,2]"));
  EXPECT_THAT(refusal(file_of("weight", "F32", "[]", data_of<float>({1}))), HasSubstr("the shape []"));
  EXPECT_THAT(refusal(file_of("weight", "F32", "[0]", "")), HasSubstr("the shape [0]"));
  EXPECT_THAT(refusal(file_of("weight", "F32", "[2]", data_of<float>({1, -2}))), HasSubstr("'weight'[1] is -2"));
  EXPECT_THAT(refusal(file_of("weight", "F32", "[1]", data_of<float>({kInfinity}))), HasSubstr("'weight'[0] is inf"));
  EXPECT_THAT(refusal(file_of("weight", "F16", "[1]", data_of<std::uint16_t>({0x7e00}))), HasSubstr("is nan"));
  EXPECT_THAT(refusal(file_of("weight", "I32", "[1]", data_of<std::int32_t>({1}))), HasSubstr("weight"));
}

}  // namespace
}  // namespace latebind::embedding
