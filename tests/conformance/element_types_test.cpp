// Every element type goes in and comes out as it is, or is refused by name.
#include <array>
#include <bit>
#include <cstring>

#include "tests/conformance/conformance.h"

namespace latebind::test {
namespace {

using core::size_of;

constexpr std::array kAllTypes{ElementType::kBool, ElementType::kI8,  ElementType::kU8,   ElementType::kI16,
                               ElementType::kU16,  ElementType::kI32, ElementType::kU32,  ElementType::kI64,
                               ElementType::kU64,  ElementType::kF16, ElementType::kBF16, ElementType::kF32,
                               ElementType::kF64};

// The bits of 1 and of 2.
std::pair<std::uint64_t, std::uint64_t> one_and_two(ElementType type) {
  switch (type) {
    case ElementType::kF16:
      return {0x3c00, 0x4000};
    case ElementType::kBF16:
      return {0x3f80, 0x4000};
    case ElementType::kF32:
      return {std::bit_cast<std::uint32_t>(1.0F), std::bit_cast<std::uint32_t>(2.0F)};
    case ElementType::kF64:
      return {std::bit_cast<std::uint64_t>(1.0), std::bit_cast<std::uint64_t>(2.0)};
    default:
      return {1, 2};
  }
}

// Three elements, each given by its bits.
struct Elements {
  ElementType type;
  std::vector<std::byte> bytes;

  Elements(ElementType element_type, std::initializer_list<std::uint64_t> values)
      : type(element_type), bytes(values.size() * size_of(element_type)) {
    std::byte* to = bytes.data();
    for (const std::uint64_t value : values) {
      std::memcpy(to, &value, size_of(type));  // little endian, as every machine that Latebind runs on
      to += size_of(type);
    }
  }
  [[nodiscard]] TensorView view() {
    TensorView view;
    view.data = bytes.data();
    view.type = type;
    view.shape = Shape{static_cast<std::int64_t>(bytes.size() / size_of(type))};
    return view;
  }
};

std::string bytes_of(const OutputTensor& output) {
  const auto size = core::byte_size_of(output.view().type, output.view().shape);
  return std::string(static_cast<const char*>(output.view().data), size.ok() ? *size : 0);
}

std::string bytes_of(const Elements& elements) {
  return std::string(reinterpret_cast<const char*>(elements.bytes.data()), elements.bytes.size());
}

OnnxBuilder model_of(const std::string& op, ElementType type) {
  OnnxBuilder builder;
  builder.input("x", type, {"n"}).output("y", type, {"n"});
  if (op == "Add") {
    builder.node("Add", {"x", "x"}, {"y"});
  } else {
    builder.node(op, {"x"}, {"y"});
  }
  return builder;
}

// Every bit of an element arrives: nothing is converted on the way.
TEST_P(ConformanceTest, PassesEveryElementTypeThroughUnchanged) {
  for (const ElementType type : kAllTypes) {
    SCOPED_TRACE(core::name_of(type));
    const auto executable = load(model_of("Identity", type));
    ASSERT_NE(executable, nullptr);
    ASSERT_EQ(executable->inputs()[0].type, type);
    ASSERT_EQ(executable->outputs()[0].type, type);
    auto [first, second] = std::pair<std::uint64_t, std::uint64_t>{0x4142434445464748, 0x3132333435363738};
    if (type == ElementType::kBool) first = second = 1;
    // A vendor may have fewer bits for them; see below.
    if (type == ElementType::kI64 || type == ElementType::kU64) first = second = 0x35363738;
    Elements input(type, {first, 0, second});
    OutputTensor output;
    ASSERT_OK(run(*executable, input.view(), output));
    EXPECT_EQ(output.view().type, type);
    EXPECT_EQ(bytes_of(output), bytes_of(input));
  }
}

// What a vendor cannot add. Everything else must be added right.
bool may_refuse_to_add(std::string_view backend, ElementType type) {
  if (type == ElementType::kBool) return true;  // ONNX has no such sum
  if (backend != "onnxruntime") return false;
  return size_of(type) <= 2 || type == ElementType::kU32 || type == ElementType::kU64;
}

TEST_P(ConformanceTest, ComputesInEveryElementTypeOrRefusesItByName) {
  for (const ElementType type : kAllTypes) {
    SCOPED_TRACE(core::name_of(type));
    auto loaded = try_load(model_of("Add", type).model());
    if (!loaded.ok()) {
      EXPECT_TRUE(may_refuse_to_add(GetParam().backend, type)) << loaded.status().to_string();
      EXPECT_NE(loaded.status().vendor_text().find("Add"), std::string::npos) << loaded.status().to_string();
      continue;
    }
    const auto [one, two] = one_and_two(type);
    Elements input(type, {one, 0, one});
    const Elements sum(type, {two, 0, two});
    OutputTensor output;
    ASSERT_OK(run(**loaded, input.view(), output));
    if (type != ElementType::kBool) {
      EXPECT_EQ(bytes_of(output), bytes_of(sum));
    }
  }
}

// A vendor that computes 64-bit integers in fewer bits must not do so in silence.
TEST_P(ConformanceTest, KeepsLargeIntegersWholeOrRefusesThemByName) {
  const auto executable = load(model_of("Add", ElementType::kI64));
  ASSERT_NE(executable, nullptr);
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 40;
  Elements large(ElementType::kI64, {kLarge, 0});
  OutputTensor output;
  if (const auto status = run(*executable, large.view(), output); status.ok()) {
    EXPECT_EQ(values_of<std::int64_t>(output), (std::vector<std::int64_t>{std::int64_t{1} << 41, 0}));
  } else {
    EXPECT_EQ(status.code(), StatusCode::kUnsupported) << status.to_string();
    EXPECT_NE(status.to_string().find("'x'"), std::string::npos) << status.to_string();
  }
  Elements small(ElementType::kI64, {1'000'000'000, ~std::uint64_t{0}});
  ASSERT_OK(run(*executable, small.view(), output));
  EXPECT_EQ(values_of<std::int64_t>(output), (std::vector<std::int64_t>{2'000'000'000, -2}));
}

TEST_P(ConformanceTest, RefusesStringsByName) {
  OnnxBuilder builder;
  builder.input("words", kOnnxString, {"n"}).output("same", kOnnxString, {"n"}).node("Identity", {"words"}, {"same"});
  const auto refused = try_load(builder.model());
  ASSERT_FALSE(refused.ok());
  const std::string text = refused.status().to_string();
  EXPECT_TRUE(text.find("words") != std::string::npos || text.find("same") != std::string::npos) << text;
}

}  // namespace
}  // namespace latebind::test
