// Random graphs around one operator of core/graph/operators.h, at every edge that its definition has: one text, one
// token, one column, absent and present members, weights of each type, numbers of any size.
#pragma once

#include <random>
#include <span>
#include <string_view>

#include "core/result.h"
#include "kit/networks/case_builder.h"

namespace latebind::kit {

struct OperatorCases {
  std::string_view name;  // as graph::kOperatorName
  core::Result<GraphCase> (*draw)(std::mt19937& chance, const CaseOptions& options);
  bool from_numbers = true;  // whether there are cases of CaseSource::kNumbers
};

// One entry for each operator, in the order of graph::Operator.
[[nodiscard]] std::span<const OperatorCases> operator_cases();

}  // namespace latebind::kit
