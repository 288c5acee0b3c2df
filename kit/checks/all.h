// The list of all checks. A group is a file of this folder; its table is declared here and nowhere else.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kit/check.h"

namespace latebind::kit {

[[nodiscard]] std::span<const Check> table_checks();
[[nodiscard]] std::span<const Check> state_checks();
[[nodiscard]] std::span<const Check> device_checks();
[[nodiscard]] std::span<const Check> model_checks();
[[nodiscard]] std::span<const Check> run_checks();
[[nodiscard]] std::span<const Check> buffer_checks();
[[nodiscard]] std::span<const Check> call_checks();
[[nodiscard]] std::span<const Check> operator_checks();
[[nodiscard]] std::span<const Check> network_checks();
[[nodiscard]] std::span<const Check> precision_checks();
[[nodiscard]] std::span<const Check> blob_checks();
[[nodiscard]] std::span<const Check> memory_checks();

// Returns all checks, in the order in which they are run: what others need comes first.
[[nodiscard]] const std::vector<Check>& all_checks();
// Returns the check of this name, or null.
[[nodiscard]] const Check* find_check(std::string_view name);

}  // namespace latebind::kit
