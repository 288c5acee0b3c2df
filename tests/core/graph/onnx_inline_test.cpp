#include "core/graph/onnx_inline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/graph/onnx_structure.h"
#include "tests/support/onnx_builder.h"

namespace latebind::graph {
namespace {

using core::ElementType;
using core::StatusCode;
using ::testing::HasSubstr;

std::span<const std::byte> span_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string string_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

constexpr std::array<std::int64_t, 1> kAxes{7};

// Two weights, one in "w.bin" and one in the model.
std::string two_weights(std::size_t offset, std::size_t length) {
  return test::OnnxBuilder()
      .input("x", ElementType::kF32, {std::int64_t{2}})
      .output("y", ElementType::kF32, {std::int64_t{2}})
      .external_constant("w", ElementType::kU8, {4}, "w.bin", offset, length)
      .constant<std::int64_t>("axes", ElementType::kI64, {1}, kAxes)
      .node("Add", {"x", "w"}, {"y"})
      .bytes();
}

const std::string kDataFile = "..data..";

core::Result<std::string> inlined(const std::string& onnx) {
  return with_inline_data(span_of(onnx), [](std::string_view location) {
    return location == "w.bin" ? std::optional(span_of(kDataFile)) : std::nullopt;
  });
}

TEST(OnnxInlineTest, TheDataOfInitializersIsInTheModelAndNothingElseChanges) {
  const auto whole = inlined(two_weights(2, 4));
  ASSERT_TRUE(whole.ok()) << whole.status().to_string();
  EXPECT_TRUE(check_onnx_structure(span_of(*whole)).ok());
  EXPECT_FALSE(may_name_external_data(span_of(*whole)));
  const auto data = initializer_data(span_of(*whole));
  ASSERT_TRUE(data.contains("w"));
  EXPECT_EQ(string_of(data.find("w")->second), "data");
  EXPECT_EQ(string_of(data.find("axes")->second),
            string_of(initializer_data(span_of(two_weights(2, 4))).find("axes")->second));
  // A second time there is nothing to do.
  EXPECT_EQ(inlined(*whole).ok() ? *inlined(*whole) : "", *whole);
}

TEST(OnnxInlineTest, APlaceThatIsNotThereIsAnError) {
  EXPECT_EQ(inlined(two_weights(9, 1)).status().code(), StatusCode::kInvalidModel);
  EXPECT_THAT(inlined(two_weights(2, 7)).status().to_string(), HasSubstr("beyond the end of 'w.bin'"));
  const auto none = with_inline_data(span_of(two_weights(2, 4)), [](std::string_view) { return std::nullopt; });
  EXPECT_THAT(none.status().to_string(), HasSubstr("data in 'w.bin', which does not exist"));
}

TEST(OnnxInlineTest, ADamagedModelIsAnError) {
  const std::string whole = two_weights(2, 4);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const auto cut = inlined(whole.substr(0, size));
    if (cut.ok()) {
      EXPECT_TRUE(check_onnx_structure(span_of(*cut)).ok()) << size;
    } else {
      EXPECT_EQ(cut.status().code(), StatusCode::kInvalidModel) << size;
    }
  }
}

}  // namespace
}  // namespace latebind::graph
