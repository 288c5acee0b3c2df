#include "kit/checks/all.h"

#include <algorithm>

namespace latebind::kit {

const std::vector<Check>& all_checks() {
  static const std::vector<Check> all = [] {
    std::vector<Check> made;
    for (const auto group :
         {table_checks, device_checks, state_checks, model_checks, run_checks, buffer_checks, call_checks,
          operator_checks, network_checks, precision_checks, blob_checks, memory_checks}) {
      const auto checks = group();
      made.insert(made.end(), checks.begin(), checks.end());
    }
    return made;
  }();
  return all;
}

const Check* find_check(std::string_view name) {
  const auto& all = all_checks();
  const auto found = std::ranges::find(all, name, &Check::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace latebind::kit
