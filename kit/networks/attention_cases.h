// Random graphs around graph::Attention and graph::WholeTable, which only attention uses (operator_cases.h).
#pragma once

#include <random>

#include "core/result.h"
#include "kit/networks/case_builder.h"

namespace latebind::kit {

// With any of its members. Disentangled scores are cases of the whole table.
[[nodiscard]] core::Result<GraphCase> attention_case(std::mt19937& chance, const CaseOptions& options);
// Attention with disentangled scores, whose tables are computed from a whole table or are one.
[[nodiscard]] core::Result<GraphCase> whole_table_case(std::mt19937& chance, const CaseOptions& options);

}  // namespace latebind::kit
