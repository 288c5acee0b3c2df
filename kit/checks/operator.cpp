// The group "operator": every operator against the reference, over many random shapes and at every edge.
#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "kit/checks/all.h"
#include "kit/checks/common.h"
#include "kit/networks/operator_cases.h"
#include "kit/trial.h"

namespace latebind::kit {
namespace {

// Half of the cases have numbers as inputs, and half look up rows of a table: a device need take only one kind.
core::Result<Finding> check_operator(Context& context, std::size_t which) {
  LB_ASSIGN_OR_RETURN(const core::Device device, context.device());
  const OperatorCases& of = operator_cases()[which];
  std::mt19937 chance(context.options().seed);
  Tally tally(context);
  for (std::size_t i = 0; i < context.options().cases; ++i) {
    const CaseSource source = of.from_numbers && i % 2 == 0 ? CaseSource::kNumbers : CaseSource::kTokens;
    LB_ASSIGN_OR_RETURN(GraphCase one, of.draw(chance, {source, needs_static_shapes(device)}));
    LB_RETURN_IF_ERROR(tally.try_graph(device, std::move(one), default_precision(device)));
  }
  return tally.finding();
}

template <std::size_t kWhich>
core::Result<Finding> check_operator_number(Context& context) {
  return check_operator(context, kWhich);
}

constexpr std::size_t kOperators = std::variant_size_v<graph::Operator>;

// The checks and the names that they refer to.
struct OperatorChecks {
  std::array<std::string, kOperators> names;
  std::array<Check, kOperators> checks;

  template <std::size_t... kWhich>
  explicit OperatorChecks(std::index_sequence<kWhich...> /*all*/)
      : names{fmt::format("operator.{}", operator_cases()[kWhich].name)...},
        checks{Check{.name = names[kWhich],
                     .what = "The operator computes what core/graph/operators.h defines, or is refused by name.",
                     .run = check_operator_number<kWhich>,
                     .time = std::chrono::seconds(300)}...} {}
};

}  // namespace

std::span<const Check> operator_checks() {
  static const OperatorChecks all{std::make_index_sequence<kOperators>()};
  return all.checks;
}

}  // namespace latebind::kit
