#include "backends/native/experts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>

namespace latebind::native {
namespace {

// Rows that are multiplied at a time.
constexpr std::size_t kRows = 56;

// A token that uses an expert, and the number of those before it that the token uses.
struct Use {
  std::size_t row = 0;
  std::size_t place = 0;
  float share = 0;
};

// Rounds up, so that the memory that follows is aligned.
constexpr std::size_t whole_lines(std::size_t numbers) {
  constexpr std::size_t kLine = kAlignment / sizeof(float);
  return (numbers + kLine - 1) / kLine * kLine;
}

// The columns of one expert's matrix that the member computes.
struct Columns {
  Range panels;
  std::size_t first = 0;
  std::size_t count = 0;
};
Columns columns_of(const ExpertRun& run, const Panels& matrix) {
  Columns columns{.panels = part_of(panel_count(matrix.columns, run.kernels), run.member, run.members)};
  columns.first = columns.panels.first * run.kernels.panel_columns;
  const std::size_t end = (columns.panels.first + columns.panels.count) * run.kernels.panel_columns;
  columns.count = std::min(end, matrix.columns) - columns.first;
  return columns;
}

// Multiplies the rows of the tokens that use the expert by its matrix, and calls take(uses, rows, columns) with the
// results. Each token has one input row for each expert that it uses, or, if `is_shared`, one row for all of them.
template <class Take>
void multiply_uses(const ExpertRun& run, const Panels& matrix, std::span<const Use> uses, const Rows& x, bool is_shared,
                   const Take& take) {
  const Product& product = run.plan.product;
  const std::size_t stride = whole_lines(product.operand_words(matrix.rows));
  const MutableRows operands{run.scratch, uses.size(), stride};
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const float* const from = x.data + uses[i].row * x.stride + (is_shared ? 0 : uses[i].place * matrix.rows);
    float* const to = operands.data + i * stride;
    if (product.convert != nullptr) {
      product.convert({from, 1, x.stride}, matrix.rows, {to, 1, stride});
    } else {
      std::copy_n(from, matrix.rows, to);
    }
  }
  const Columns columns = columns_of(run, matrix);
  const MutableRows found{run.scratch + kRows * stride, uses.size(), whole_lines(matrix.columns)};
  product.multiply({operands.data, operands.count, operands.stride}, matrix, columns.panels.first, columns.panels.count,
                   nullptr, found);
  take(uses, MutableRows{found.data + columns.first, found.count, found.stride}, columns);
}

// Does the same for all experts, in their order.
template <class Take>
void for_each_use(const ExpertRun& run, const ExpertMatrices& experts, const Rows& x, const Rows& shares,
                  bool is_shared, const Take& take) {
  std::array<Use, kRows> uses;
  for (std::size_t expert = 0; expert < experts.matrices.size(); ++expert) {
    const Panels matrix = run.plan.matrices[experts.matrices[expert]];
    std::size_t count = 0;
    const auto flush = [&] {
      if (count > 0 && !run.limits.are_reached())
        multiply_uses(run, matrix, std::span(uses).first(count), x, is_shared, take);
      count = 0;
    };
    for (std::size_t row = 0; row < shares.count; ++row) {
      const float* const of_row = shares.data + row * shares.stride;
      if (of_row[expert] == 0) continue;
      const auto before = std::count_if(of_row, of_row + expert, [](float share) { return share != 0; });
      uses[count++] = {.row = row, .place = static_cast<std::size_t>(before), .share = of_row[expert]};
      if (count == kRows) flush();
    }
    flush();
  }
}

std::size_t expert_scratch(const Plan& plan, const ExpertMatrices& experts) {
  const Panels matrix = plan.matrices[experts.matrices.front()];
  return kRows * (whole_lines(plan.product.operand_words(matrix.rows)) + whole_lines(matrix.columns));
}

}  // namespace

std::size_t scratch_of(const Plan& plan, const Step& step, std::size_t longest) {
  if (const auto* const attend = std::get_if<Attend>(&step.what)) {
    const std::size_t places = attend->places ? plan.places[*attend->places].places() : 0;
    return plan.product.attention_scratch(longest, plan.widths[attend->query] / attend->heads, places);
  }
  if (const auto* const first = std::get_if<Widen>(&step.what)) return expert_scratch(plan, first->experts);
  if (const auto* const last = std::get_if<Narrow>(&step.what)) return expert_scratch(plan, last->experts);
  return 0;
}

void choose(const MutableRows& shares, std::size_t experts, std::size_t chosen) {
  for (std::size_t r = 0; r < shares.count; ++r) {
    float* const row = shares.data + r * shares.stride;
    // NaN counts as the largest number, so that it reaches the token's vector.
    const auto is_less = [](float a, float b) { return !std::isnan(a) && (std::isnan(b) || a < b); };
    const float largest = *std::max_element(row, row + experts, is_less);
    float sum = 0;
    for (std::size_t e = 0; e < experts; ++e)
      sum += row[e] = std::exp(row[e] - largest);
    for (std::size_t e = 0; e < experts; ++e)
      row[e] /= sum;
    for (auto used = std::count_if(row, row + experts, [](float share) { return share != 0; });
         used > static_cast<std::ptrdiff_t>(chosen); --used) {
      // Of equal numbers, the last one is removed first.
      float* least = nullptr;
      for (float* share = row; share < row + experts; ++share) {
        if (*share != 0 && (least == nullptr || !is_less(*least, *share))) least = share;
      }
      *least = 0;
    }
  }
}

void widen(const ExpertRun& run, const Widen& step, const ExpertRows& rows) {
  const MutableRows& y = rows.y;
  for_each_use(run, step.experts, rows.x, rows.shares, /*is_shared=*/true,
               [&](std::span<const Use> uses, const MutableRows& found, const Columns& columns) {
                 run.kernels.activate(step.function, found, columns.count);
                 const std::size_t width = run.plan.matrices[step.experts.matrices.front()].columns;
                 for (std::size_t i = 0; i < uses.size(); ++i) {
                   std::copy_n(found.data + i * found.stride, columns.count,
                               y.data + uses[i].row * y.stride + uses[i].place * width + columns.first);
                 }
               });
}

void narrow(const ExpertRun& run, const Narrow& step, const ExpertRows& rows) {
  const MutableRows& y = rows.y;
  const Columns mine = columns_of(run, run.plan.matrices[step.experts.matrices.front()]);
  for (std::size_t row = 0; row < y.count; ++row)
    std::fill_n(y.data + row * y.stride + mine.first, mine.count, 0.0F);
  for_each_use(run, step.experts, rows.x, rows.shares, /*is_shared=*/false,
               [&](std::span<const Use> uses, const MutableRows& found, const Columns& columns) {
                 for (std::size_t i = 0; i < uses.size(); ++i) {
                   float* const to = y.data + uses[i].row * y.stride + columns.first;
                   std::transform(to, to + columns.count, found.data + i * found.stride, to,
                                  [&](float sum, float number) { return sum + uses[i].share * number; });
                 }
               });
  for (std::size_t row = 0; row < y.count; ++row) {
    float* const to = y.data + row * y.stride + mine.first;
    std::transform(to, to + mine.count, step.bias.data() + mine.first, to, std::plus<>());
  }
}

void convolve(const Convolve& step, std::size_t columns, const Rows& x, const std::uint32_t* places, const Range& range,
              const MutableRows& y) {
  for (std::size_t row = range.first; row < range.first + range.count; ++row) {
    float* const to = y.data + row * y.stride;
    std::copy_n(step.bias.data(), columns, to);
    const float* factors = step.weight.data();
    for (std::size_t back = 0; back * columns < step.weight.size() && back <= places[row]; ++back) {
      const float* const from = x.data + (row - back) * x.stride;
      for (std::size_t i = 0; i < columns; ++i)
        to[i] += factors[i] * from[i];
      factors += columns;
    }
  }
}

}  // namespace latebind::native
