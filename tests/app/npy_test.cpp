#include "app/npy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace latebind::app {
namespace {

using core::ElementType;
using core::Shape;
using core::StatusCode;
using namespace std::string_literals;

std::string file_with(std::string_view dictionary, std::string_view data = {}, char version = 1) {
  std::string bytes = "\x93NUMPY"s;
  bytes += version;
  bytes += '\0';
  const std::size_t length = dictionary.size();
  bytes += static_cast<char>(length & 0xFFU);
  bytes += static_cast<char>(length >> 8U & 0xFFU);
  if (version > 1) bytes += "\0\0"s;
  bytes += dictionary;
  bytes += data;
  return bytes;
}

core::Result<NpyHeader> parse(const std::string& bytes) {
  return parse_npy_header(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

class NpyFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              fmt::format("npy_{}", testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& bytes) const {
    const auto file = folder_ / "array.npy";
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

  std::filesystem::path folder_;
};

TEST(NpyHeaderTest, ReadsWhatNumpyWrites) {
  const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n";
  const auto header = parse(file_with(dictionary));
  ASSERT_TRUE(header.ok()) << header.status().to_string();
  EXPECT_EQ(header->type, ElementType::kF32);
  EXPECT_EQ(header->shape, (Shape{2, 3}));
  EXPECT_FALSE(header->column_major);
  EXPECT_EQ(header->data_offset, 10 + dictionary.size());
}

TEST(NpyHeaderTest, ReadsEveryVersionAndAnyOrderOfKeys) {
  for (const char version : {'\1', '\2', '\3'}) {
    const auto header = parse(file_with("{\"shape\":(),\"fortran_order\":True,\"descr\":\"|b1\"}", {}, version));
    ASSERT_TRUE(header.ok()) << header.status().to_string();
    EXPECT_EQ(header->type, ElementType::kBool);
    EXPECT_EQ(header->shape.rank(), 0U);
    EXPECT_TRUE(header->column_major);
  }
}

TEST(NpyHeaderTest, RefusesWhatIsNoHeader) {
  for (const std::string& bytes :
       {""s, "\x93NUMPY"s, "\x93NUMPY\x01\0"s, "GIF89a and more bytes"s, file_with(""), file_with("{"), file_with("[]"),
        file_with("{'descr': '<f4'}"), file_with("{'descr': '<f4', 'fortran_order': 1, 'shape': ()}"),
        file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}"),
        file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}"),
        file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"),
        file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2"),
        file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x"),
        file_with("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}"),
        file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': '1'}"),
        file_with("{'descr': '" + std::string(1000, '<') + "', 'fortran_order': False, 'shape': (2,)}")}) {
    const auto header = parse(bytes);
    ASSERT_FALSE(header.ok()) << bytes;
    EXPECT_EQ(header.status().code(), StatusCode::kInvalidModel) << header.status().to_string();
  }
}

TEST(NpyHeaderTest, RefusesAHeaderLongerThanItsLimit) {
  std::string bytes = "\x93NUMPY\x02\0\xFF\xFF\xFF\xFF"s + std::string(100, ' ');
  const auto header = parse(bytes);
  ASSERT_FALSE(header.ok());
  EXPECT_NE(header.status().message().find("4294967295"), std::string_view::npos) << header.status().to_string();
}

TEST(NpyHeaderTest, SaysWhatItDoesNotSupport) {
  for (const std::string& bytes : {file_with("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}"),
                                   file_with("{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}"),
                                   file_with("{'descr': '|O', 'fortran_order': False, 'shape': (2,)}"),
                                   file_with("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}"),
                                   file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}"),
                                   file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", {}, '\7')}) {
    const auto header = parse(bytes);
    ASSERT_FALSE(header.ok()) << bytes;
    EXPECT_EQ(header.status().code(), StatusCode::kUnsupported) << header.status().to_string();
  }
}

TEST(NpyHeaderTest, ReadsBackEveryTypeItWrites) {
  for (const auto type : {ElementType::kBool, ElementType::kI8, ElementType::kU8, ElementType::kI16, ElementType::kU16,
                          ElementType::kI32, ElementType::kU32, ElementType::kI64, ElementType::kU64, ElementType::kF16,
                          ElementType::kF32, ElementType::kF64}) {
    for (const auto& dims : {std::vector<std::int64_t>{}, {7}, {0, 384}, {1, 2, 3, 4, 5, 6, 7, 8}}) {
      const auto bytes = make_npy_header(type, dims);
      ASSERT_TRUE(bytes.ok());
      EXPECT_EQ(bytes->size() % 64, 0U);
      const auto header = parse(*bytes);
      ASSERT_TRUE(header.ok()) << header.status().to_string();
      EXPECT_EQ(header->type, type);
      EXPECT_EQ(header->data_offset, bytes->size());
      EXPECT_EQ(std::vector(header->shape.dims().begin(), header->shape.dims().end()), dims);
    }
  }
}

TEST(NpyHeaderTest, KeepsItsSizeWhenTheShapeGrows) {
  const std::int64_t small[] = {0, 384};
  const std::int64_t large[] = {std::int64_t{1} << 47, 16384};
  const auto first = make_npy_header(ElementType::kF32, small, 128);
  const auto last = make_npy_header(ElementType::kF32, large, 128);
  ASSERT_TRUE(first.ok() && last.ok());
  EXPECT_EQ(first->size(), 128U);
  EXPECT_EQ(last->size(), 128U);
  EXPECT_FALSE(make_npy_header(ElementType::kF32, large, 64).ok());
}

TEST_F(NpyFileTest, ReadsBackWhatItWrites) {
  std::array<float, 6> values{1, -2, 3.5F, 4, 5, 6};
  const core::TensorView view{
      .data = values.data(), .type = ElementType::kF32, .shape = Shape{2, 3}, .strides = std::nullopt};
  const auto bytes = npy_bytes(view);
  ASSERT_TRUE(bytes.ok());
  const auto array = read_npy(write(*bytes));
  ASSERT_TRUE(array.ok()) << array.status().to_string();
  EXPECT_EQ(array->view.shape, view.shape);
  EXPECT_EQ(std::memcmp(array->view.data, values.data(), sizeof values), 0);
}

TEST_F(NpyFileTest, TurnsColumnsIntoRows) {
  const std::array<std::int32_t, 6> columns{1, 4, 2, 5, 3, 6};
  std::string data(sizeof columns, '\0');
  std::memcpy(data.data(), columns.data(), sizeof columns);
  for (const int padding : {0, 1, 2, 3}) {
    // The data begins at 10 + the dictionary's length: aligned for one of these paddings.
    auto array = read_npy(write(file_with("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3)}" +
                                              std::string(static_cast<std::size_t>(padding), ' '),
                                          data)));
    if (!array.ok()) {
      EXPECT_EQ(array.status().code(), StatusCode::kUnsupported);
      continue;
    }
    const std::array<std::int32_t, 6> rows{1, 2, 3, 4, 5, 6};
    EXPECT_EQ(std::memcmp(array->view.data, rows.data(), sizeof rows), 0);
    EXPECT_TRUE(array->view.is_contiguous());
  }
}

TEST_F(NpyFileTest, ReadsDataAtAnOddOffset) {
  const std::array<double, 2> values{1.25, -8};
  std::string data(sizeof values, '\0');
  std::memcpy(data.data(), values.data(), sizeof values);
  for (const int padding : {0, 1, 2, 3, 4, 5, 6, 7}) {
    const auto array = read_npy(write(file_with(
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}" + std::string(static_cast<std::size_t>(padding), ' '),
        data)));
    ASSERT_TRUE(array.ok()) << array.status().to_string();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array->view.data) % 8, 0U);
    EXPECT_EQ(std::memcmp(array->view.data, values.data(), sizeof values), 0);
  }
}

TEST_F(NpyFileTest, RefusesDataThatIsTooShortOrTooLong) {
  for (const std::size_t size : {0U, 7U, 9U}) {
    const auto array =
        read_npy(write(file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", std::string(size, 'x'))));
    ASSERT_FALSE(array.ok());
    EXPECT_NE(array.status().message().find("array.npy"), std::string_view::npos);
    EXPECT_NE(array.status().message().find(fmt::format("has {}", size)), std::string_view::npos);
  }
}

TEST_F(NpyFileTest, RefusesAShapeWhoseSizeOverflows) {
  const auto array = read_npy(write(file_with(
      "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4611686018427387904)}", "12345678")));
  ASSERT_FALSE(array.ok());
  EXPECT_NE(array.status().message().find("array.npy"), std::string_view::npos);
}

TEST_F(NpyFileTest, NamesAFileThatIsNotThere) {
  const auto array = read_npy(folder_ / "nothing.npy");
  ASSERT_FALSE(array.ok());
  EXPECT_EQ(array.status().code(), StatusCode::kNotFound);
  EXPECT_NE(array.status().message().find("nothing.npy"), std::string_view::npos);
}

TEST_F(NpyFileTest, WritesBf16AsF32) {
  std::array<std::uint16_t, 2> halves{0x3FC0, 0xC000};  // 1.5 and -2
  const core::TensorView view{
      .data = halves.data(), .type = ElementType::kBF16, .shape = Shape{2}, .strides = std::nullopt};
  const auto bytes = npy_bytes(view);
  ASSERT_TRUE(bytes.ok());
  const auto array = read_npy(write(*bytes));
  ASSERT_TRUE(array.ok()) << array.status().to_string();
  EXPECT_EQ(array->view.type, ElementType::kF32);
  const std::array<float, 2> values{1.5F, -2};
  EXPECT_EQ(std::memcmp(array->view.data, values.data(), sizeof values), 0);
}

}  // namespace
}  // namespace latebind::app
