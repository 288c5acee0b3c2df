#include "kit/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kit/check.h"
#include "kit/reference/evaluator.h"

namespace latebind::kit {
namespace {

// Rounding once is what the best implementation does; others round more often, and sum up in another order.
constexpr double kTimesRounded = 8;

// Whether number `i` of an output belongs to padding, which has no defined value.
bool is_padding(const Array& output, const Array* mask, std::size_t i) {
  if (mask == nullptr || output.shape.size() < 3) return false;
  if (output.shape[0] != mask->shape[0] || output.shape[1] != mask->shape[1]) return false;
  const std::size_t columns = output.values.size() / mask->values.size();
  return mask->values[i / columns] == 0;
}

struct Distance {
  double farthest = 0;
  std::size_t where = 0;
  double on_average = 0;  // relative
  double largest = 0;     // of the reference
};

Distance distance_between(const Array& found, const Array& wanted, const Array* mask) {
  Distance distance;
  double squares = 0;
  double squares_wanted = 0;
  for (std::size_t i = 0; i < wanted.values.size(); ++i) {
    if (is_padding(wanted, mask, i) || !std::isfinite(wanted.values[i])) continue;
    const double difference = std::isfinite(found.values[i]) ? std::abs(found.values[i] - wanted.values[i]) : HUGE_VAL;
    if (difference > distance.farthest) {
      distance.farthest = difference;
      distance.where = i;
    }
    squares += difference * difference;
    squares_wanted += wanted.values[i] * wanted.values[i];
    distance.largest = std::max(distance.largest, std::abs(wanted.values[i]));
  }
  distance.on_average = std::sqrt(squares / std::max(squares_wanted, 1e-30));
  return distance;
}

std::string text_of(const Dims& dims) {
  return core::Shape::make(dims)->to_string();
}

core::Status compare_output(const std::string& name, const Array& found, const Array& wanted, const Array& rounded,
                            const Array* mask, core::Precision precision) {
  if (found.shape != wanted.shape) {
    return wrong(
        fmt::format("output '{}' has shape {}, and should have {}", name, text_of(found.shape), text_of(wanted.shape)));
  }
  const Bound bound = bound_of(precision);
  const Distance distance = distance_between(found, wanted, mask);
  const Distance rounding = distance_between(rounded, wanted, mask);
  // What is rounded to 0 everywhere has no average.
  const double each_most = bound.each * distance.largest + kTimesRounded * rounding.farthest + 1e-30;
  if (bound.each > 0 && !(distance.farthest <= each_most)) {
    return wrong(fmt::format("number {} of output '{}' {} is {:.9g}, and should be {:.9g} (within {:.3g}, in {})",
                             distance.where, name, text_of(wanted.shape), found.values[distance.where],
                             wanted.values[distance.where], each_most, core::word_of(precision)));
  }
  const double average_most = bound.on_average + kTimesRounded * rounding.on_average;
  if (bound.each == 0 && !(distance.on_average <= average_most)) {
    return wrong(fmt::format(
        "output '{}' {} is {:.3g} of its size away from what it should be on average (at most {:.3g} in {}); "
        "number {} is {:.9g}, and should be {:.9g}",
        name, text_of(wanted.shape), distance.on_average, average_most, core::word_of(precision), distance.where,
        found.values[distance.where], wanted.values[distance.where]));
  }
  return {};
}

}  // namespace

Bound bound_of(core::Precision precision) {
  switch (precision) {
    case core::Precision::kBF16:
      return {.on_average = 0.05, .bits = 8};
    case core::Precision::kF16:
      return {.on_average = 0.01, .bits = 11};
    case core::Precision::kInt8:
    case core::Precision::kFast:
      return {.on_average = 0.12, .bits = 7};
    case core::Precision::kF32:
      break;
  }
  return {.each = 2e-5, .bits = 24};
}

core::Status compare(const graph::Graph& graph, const Inputs& inputs, const std::vector<Array>& found,
                     core::Precision precision) {
  const std::vector<Array> wanted = evaluate_all(graph, inputs);
  const std::vector<Array> rounded = evaluate_all(graph, inputs, bound_of(precision).bits);
  const auto mask = inputs.find("mask");
  if (found.size() != wanted.size())
    return wrong(fmt::format("the run has {} outputs, and should have {}", found.size(), wanted.size()));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    LB_RETURN_IF_ERROR(compare_output(graph.outputs()[i].name, found[i], wanted[i], rounded[i],
                                      mask == inputs.end() ? nullptr : &mask->second, precision));
  }
  return {};
}

}  // namespace latebind::kit
