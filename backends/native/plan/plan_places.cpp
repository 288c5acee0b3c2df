// The part of Planner that computes values of weights alone, and the places of disentangled attention.
#include <cmath>
#include <memory>
#include <utility>

#include "backends/native/plan/planner.h"

namespace latebind::native {

using core::Result;
using core::Status;

Status Planner::plan(std::uint32_t node, const graph::WholeTable& op) {
  LB_ASSIGN_OR_RETURN(std::vector<float> numbers, files_.numbers(op.table));
  forms_[node] = std::make_shared<const FixedRows>(FixedRows{.numbers = std::move(numbers),
                                                             .count = static_cast<std::size_t>(op.table.shape[0]),
                                                             .width = static_cast<std::size_t>(op.table.shape[1])});
  return {};
}

Status Planner::plan_fixed(std::uint32_t node, const FixedRows& rows, const graph::LayerNorm& op) {
  LB_ASSIGN_OR_RETURN(const std::vector<float> weight, files_.numbers(op.weight));
  LB_ASSIGN_OR_RETURN(const std::vector<float> bias, bias_of(op.bias, op.weight));
  FixedRows y = rows;
  const auto width = static_cast<double>(y.width);
  for (std::size_t first = 0; first < y.numbers.size(); first += y.width) {
    float* const row = y.numbers.data() + first;
    double sum = 0;
    for (std::size_t i = 0; i < y.width; ++i)
      sum += static_cast<double>(row[i]);
    const double mean = sum / width;
    double squares = 0;
    for (std::size_t i = 0; i < y.width; ++i)
      squares += (static_cast<double>(row[i]) - mean) * (static_cast<double>(row[i]) - mean);
    const double factor = 1 / std::sqrt(squares / width + op.epsilon);
    for (std::size_t i = 0; i < y.width; ++i)
      row[i] = static_cast<float>((static_cast<double>(row[i]) - mean) * factor) * weight[i] + bias[i];
  }
  forms_[node] = std::make_shared<const FixedRows>(std::move(y));
  return {};
}

Status Planner::plan_fixed(std::uint32_t node, std::shared_ptr<const FixedRows> rows, const graph::Linear& op) {
  LB_ASSIGN_OR_RETURN(std::vector<float> bias, bias_of(op.bias, op.weight));
  forms_[node] =
      FixedProduct{.rows = std::move(rows), .matrix = plan_.matrices.add(op.weight, files_), .bias = std::move(bias)};
  return {};
}

Result<std::size_t> Planner::places_of(const graph::Disentangled& terms, std::size_t heads, std::size_t width) {
  std::optional<FixedProduct> sides[2];
  for (const bool is_of_keys : {true, false}) {
    const auto& table = is_of_keys ? terms.keys : terms.queries;
    if (!table) continue;
    const auto* const product = std::get_if<FixedProduct>(&forms_[table->node]);
    if (product == nullptr) return unsupported("disentangled attention to a table that is not a product of weights");
    sides[is_of_keys ? 0 : 1] = *product;
    end_use(*table);
  }
  plan_.places.emplace_back(terms, heads, width, std::move(sides[0]), std::move(sides[1]));
  return plan_.places.size() - 1;
}

}  // namespace latebind::native
