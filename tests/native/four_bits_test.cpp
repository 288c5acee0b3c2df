// Products with matrices of four bits: the panels, and the products of every instruction set that this processor has.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "backends/native/kernels/kernels.h"
#include "backends/native/memory/buffer.h"
#include "backends/native/memory/weights.h"
#include "core/graph/graph.h"
#include "core/tensor/computed_bytes.h"
#include "support.h"

namespace latebind::native {
namespace {

using core::FourBitGroup;

float number_at(const std::vector<FourBitGroup>& groups, std::size_t i) {
  const FourBitGroup& group = groups[i / FourBitGroup::kNumbers];
  const std::size_t place = i % FourBitGroup::kNumbers;
  const unsigned byte = group.codes[place % group.codes.size()];
  return group.least + group.step * static_cast<float>(place < group.codes.size() ? byte & 15U : byte >> 4U);
}

class Groups final : public core::ComputedBytes {
 public:
  Groups(std::vector<FourBitGroup> groups, bool tells)
      : ComputedBytes(groups.size() * FourBitGroup::kNumbers * sizeof(float)),
        groups_(std::move(groups)),
        tells_(tells) {}

  [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> to) const noexcept override {
    for (std::size_t at = 0; at < to.size(); at += sizeof(float)) {
      const float number = number_at(groups_, static_cast<std::size_t>(offset + at) / sizeof(float));
      std::memcpy(to.data() + at, &number, sizeof number);
    }
    return true;
  }
  [[nodiscard]] bool has_four_bits(std::uint64_t /*offset*/, std::uint64_t /*size*/) const noexcept override {
    return tells_;
  }
  [[nodiscard]] bool read_four_bits(std::uint64_t offset, std::span<FourBitGroup> to) const noexcept override {
    const auto first = static_cast<std::ptrdiff_t>(offset / sizeof(float) / FourBitGroup::kNumbers);
    std::copy_n(groups_.begin() + first, to.size(), to.begin());
    return true;
  }
  [[nodiscard]] core::Status why_not() const override { return {}; }

 private:
  void compute_all(std::span<std::byte> to) const override { static_cast<void>(read(0, to)); }

  std::vector<FourBitGroup> groups_;
  bool tells_;
};

// A matrix of `columns` columns of `rows` numbers, and what holds its panels.
class Packed {
 public:
  Packed(const Kernels& kernels, const Product& product, const std::vector<FourBitGroup>& groups, std::size_t rows,
         bool tells, bool is_transposed = false)
      : matrices_(kernels, product) {
    const auto columns = static_cast<std::int64_t>(groups.size() * FourBitGroup::kNumbers / rows);
    auto bytes = std::make_shared<const Groups>(groups, tells);
    graph::GraphBuilder builder(std::vector{core::FilePart::of(std::move(bytes))});
    const graph::Weight weight{
        .name = "weight", .type = core::ElementType::kF32, .shape = {columns, static_cast<std::int64_t>(rows)}};
    const auto ids = builder.add(graph::Input{"ids", core::ElementType::kI64, {core::kDynamic, core::kDynamic}});
    const auto x = builder.add(graph::Lookup{weight, ids});
    const auto y = builder.add(graph::Linear{.x = x, .weight = weight});
    const auto graph = std::move(builder).finish(y, "tokens");
    EXPECT_TRUE(graph.ok()) << graph.status().to_string();
    const WeightFiles files(*graph);
    static_cast<void>(matrices_.add(weight, files, is_transposed));
    const auto packed = matrices_.pack(*graph, files, 1, [](std::size_t panels, const PackedMatrices::Part& part) {
      for (std::size_t panel = 0; panel < panels; ++panel)
        part(panel, 0);
    });
    EXPECT_TRUE(packed.ok()) << packed.to_string();
  }
  [[nodiscard]] Panels panels() const { return matrices_[0]; }

 private:
  PackedMatrices matrices_;
};

// The same bytes as panels of int8, by the words of kernels.h.
Buffer expanded(const Panels& panels, const Kernels& kernels, const Product& product) {
  const std::size_t width = kernels.panel_columns;
  const std::size_t count = panel_count(panels.columns, kernels);
  const std::size_t from_size = width * product.column_words(panels.rows, true);
  const std::size_t to_size = width * product.operand_words(panels.rows);
  Buffer made(count * to_size);
  const auto word_of = [](const float* at) { return std::bit_cast<std::uint32_t>(*at); };
  for (std::size_t panel = 0; panel < count; ++panel) {
    const float* const from = panels.data + panel * from_size;
    float* const to = made.data() + panel * to_size;
    for (std::size_t group = 0; group < panels.rows / kFourBitGroup; ++group) {
      const float* const packed = from + group * (kFourBitCodes + 1) * width;
      for (std::size_t column = 0; column < width; ++column) {
        const std::uint32_t line = word_of(packed + kFourBitCodes * width + column);
        for (std::size_t word = 0; word < 2 * kFourBitCodes; ++word) {
          const std::size_t place = place_of_word(word % kFourBitCodes, column, width, product.side_by_side);
          const std::uint32_t codes = word_of(packed + place) >> (word < kFourBitCodes ? 0U : 4U);
          std::uint32_t bytes = 0;
          for (unsigned k = 0; k < 4; ++k) {
            const std::uint32_t code = codes >> (8 * k) & 15U;
            bytes |= (((line & 0xFFFFU) * code + (line >> 16U)) >> 8U & 0xFFU) << (8 * k);
          }
          const std::size_t row_word = group * 2 * kFourBitCodes + word;
          std::memcpy(to + place_of_word(row_word, column, width, product.side_by_side), &bytes, sizeof bytes);
        }
      }
    }
    std::copy_n(from + four_bit_words(panels.rows) * width, width * words_after(panels.rows, Format::kInt8),
                to + product.words(panels.rows) * width);
  }
  return made;
}

std::vector<FourBitGroup> draw_groups(std::mt19937& chance, std::size_t count) {
  std::vector<FourBitGroup> groups(count);
  std::uniform_real_distribution<float> size(0.5F, 1.5F);
  for (std::size_t i = 0; i < count; ++i) {
    groups[i].step = 0.01F * size(chance) * (i % 5 == 0 ? -1.0F : 1.0F);
    groups[i].least = -groups[i].step * (i % 2 == 0 ? 8.0F : 7.5F * size(chance));
    for (auto& codes : groups[i].codes)
      codes = static_cast<std::uint8_t>(chance());
  }
  return groups;
}

std::vector<float> draw_rows(std::mt19937& chance, std::size_t count) {
  std::normal_distribution<float> number;
  std::vector<float> rows(count);
  for (float& one : rows)
    one = number(chance);
  return rows;
}

// y = a · b + bias of as many rows.
std::vector<float> multiplied(const Product& product, const std::vector<float>& rows, const Panels& panels,
                              const Kernels& kernels, const std::vector<float>& bias) {
  const std::size_t count = rows.size() / panels.rows;
  const std::size_t stride = product.operand_words(panels.rows);
  Buffer operands(count * stride);
  product.convert({rows.data(), count, panels.rows}, panels.rows, {operands.data(), count, stride});
  std::vector<float> y(count * panels.columns);
  product.multiply({operands.data(), count, stride}, panels, 0, panel_count(panels.columns, kernels), bias.data(),
                   {y.data(), count, panels.columns});
  return y;
}

// Calls test(kernels, product) for every product in int8 that this processor has, each once.
template <class Test>
void for_each_product(const Test& test) {
  std::set<const void*> seen;
  for (const Kernels* const kernels : all_kernels()) {
    if (!can_run(*kernels) || !kernels->int8.is_there()) continue;
    if (!seen.insert(reinterpret_cast<const void*>(kernels->int8.multiply)).second) continue;
    SCOPED_TRACE(kernels->name);
    test(*kernels, kernels->int8);
  }
}

// Around the sizes of groups, blocks, parts, panels and tiles.
TEST(FourBitsTest, ProductsAreThoseOfTheSameBytesInInt8) {
  std::mt19937 chance(1);
  for_each_product([&](const Kernels& kernels, const Product& product) {
    for (const std::size_t rows : {32U, 64U, 96U, 128U, 384U, 416U, 1056U}) {
      for (const std::size_t columns : {1U, 15U, 16U, 17U, 33U, 70U}) {
        const Packed packed(kernels, product, draw_groups(chance, columns * rows / kFourBitGroup), rows, true);
        ASSERT_TRUE(packed.panels().four_bits);
        const Buffer bytes = expanded(packed.panels(), kernels, product);
        const std::vector<float> bias = draw_rows(chance, columns);
        for (const std::size_t count : {1U, 2U, 3U, 6U, 14U, 15U, 29U, 57U}) {
          SCOPED_TRACE(fmt::format("{} x {} x {}", count, rows, columns));
          const auto x = draw_rows(chance, count * rows);
          EXPECT_EQ(multiplied(product, x, packed.panels(), kernels, bias),
                    multiplied(product, x, {bytes.data(), rows, columns}, kernels, bias));
        }
      }
    }
  });
}

struct Errors {
  double largest = 0;
  double squares = 0;
};

// Packing four bits adds nothing noticeable to the error of int8.
TEST(FourBitsTest, TheErrorIsThatOfInt8) {
  constexpr std::size_t kRows = 1024;
  constexpr std::size_t kColumns = 48;
  constexpr std::size_t kCount = 20;
  std::mt19937 chance(2);
  for_each_product([&](const Kernels& kernels, const Product& product) {
    const auto groups = draw_groups(chance, kColumns * kRows / kFourBitGroup);
    const auto x = draw_rows(chance, kCount * kRows);
    const std::vector<float> bias(kColumns);
    Errors errors[2];
    double squares = 0;
    for (const bool tells : {false, true}) {
      const Packed packed(kernels, product, groups, kRows, tells);
      EXPECT_EQ(packed.panels().four_bits, tells);
      const auto found = multiplied(product, x, packed.panels(), kernels, bias);
      for (std::size_t i = 0; i < found.size(); ++i) {
        double wanted = 0;
        for (std::size_t k = 0; k < kRows; ++k)
          wanted += double{x[i / kColumns * kRows + k]} * number_at(groups, i % kColumns * kRows + k);
        const double error = found[i] - wanted;
        errors[tells].largest = std::max(errors[tells].largest, std::abs(error));
        errors[tells].squares += error * error;
        squares += wanted * wanted;
      }
    }
    EXPECT_LE(errors[1].squares, 1.1 * errors[0].squares);
    EXPECT_LE(errors[1].squares, 0.01 * 0.01 * squares / 2);
    EXPECT_LE(errors[1].largest, 2 * errors[0].largest);
  });
}

// Groups of one number, of zeros, of numbers far smaller than the others of their block, and of none that is finite.
TEST(FourBitsTest, UnusualGroups) {
  constexpr std::size_t kRows = 96;
  std::mt19937 chance(3);
  const auto column = [&](FourBitGroup first, float step) {
    auto groups = draw_groups(chance, 3);
    groups[0] = first;
    for (std::size_t i = 1; i < groups.size(); ++i) {
      groups[i].step = step;
      groups[i].least = -8 * step;
    }
    return groups;
  };
  const auto filled = [](float step, float least, std::uint8_t codes) {
    FourBitGroup group{.step = step, .least = least};
    group.codes.fill(codes);
    return group;
  };
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<FourBitGroup> groups;
  const auto add = [&](const std::vector<FourBitGroup>& more) {
    groups.insert(groups.end(), more.begin(), more.end());
  };
  add(column(filled(1.0F, -8.0F, 0x88), 0.001F));      // zeros in large steps
  add(column(filled(1000.0F, -7000.0F, 0x77), 0));     // zeros alone
  add(column(filled(-3.0F, 4.5F, 0x21), 0.1F));        // two numbers, falling
  add(column(filled(1e-12F, 0.0F, 0xF0), 0.1F));       // too small to count
  add(column(filled(1e-38F, -8e-38F, 0xF0), 1e-38F));  // subnormal bytes' scale
  add(column(filled(2e4F, -1e5F, 0xA0), 1e-3F));       // the others are too small
  add(column(filled(infinity, 0.0F, 0xF1), 0.1F));
  add(column(filled(1.0F, std::numeric_limits<float>::quiet_NaN(), 0xF1), 0.1F));
  constexpr std::size_t kFinite = 6;
  const std::size_t columns = groups.size() / 3;
  for_each_product([&](const Kernels& kernels, const Product& product) {
    const Packed packed(kernels, product, groups, kRows, true);
    const auto x = draw_rows(chance, kRows);
    const auto found = multiplied(product, x, packed.panels(), kernels, std::vector<float>(columns));
    for (std::size_t i = 0; i < columns; ++i) {
      SCOPED_TRACE(i);
      double wanted = 0;
      double largest = 0;
      for (std::size_t k = 0; k < kRows; ++k) {
        wanted += double{x[k]} * number_at(groups, i * kRows + k);
        largest = std::max(largest, double{std::abs(number_at(groups, i * kRows + k))});
      }
      if (i < kFinite) {
        EXPECT_NEAR(found[i], wanted, 0.1 * largest + 1e-35);
      } else {
        EXPECT_TRUE(std::isnan(found[i]));
      }
    }
  });
}

TEST(FourBitsTest, OtherProductsHaveTheNumbers) {
  std::mt19937 chance(4);
  const auto groups = draw_groups(chance, 64);
  for (const Kernels* const kernels : all_kernels()) {
    if (!can_run(*kernels)) continue;
    for (const Product* const product : {&kernels->f32, &kernels->bf16, &kernels->f16}) {
      if (!product->is_there()) continue;
      EXPECT_FALSE(Packed(*kernels, *product, groups, 64, true).panels().four_bits);
    }
    if (!kernels->int8.is_there()) continue;
    EXPECT_FALSE(Packed(*kernels, kernels->int8, groups, 64, true, true).panels().four_bits);
  }
}

}  // namespace
}  // namespace latebind::native
