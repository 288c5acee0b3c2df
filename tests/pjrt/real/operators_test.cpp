// Every operator on PJRT plug-ins computes what the reference computes.
#include <random>
#include <utility>

#include "kit/compare.h"
#include "kit/networks/graph_model.h"
#include "kit/networks/operator_cases.h"
#include "kit/run_graph.h"
#include "tests/pjrt/real/support.h"

namespace latebind::pjrt::testing {
namespace {

class OperatorsTest : public VendorTest {};

TEST_P(OperatorsTest, ComputeWhatTheReferenceComputes) {
  constexpr int kCases = 3;
  std::mt19937 chance(7);
  for (const kit::OperatorCases& of : kit::operator_cases()) {
    for (int i = 0; i < kCases; ++i) {
      const auto source = of.from_numbers && i % 2 == 0 ? kit::CaseSource::kNumbers : kit::CaseSource::kTokens;
      auto one = of.draw(chance, {.source = source, .is_static = true});
      ASSERT_TRUE(one.ok()) << one.status().to_string();
      const auto loaded = backend_->load(kit::model_of(one->graph), "CPU", {});
      ASSERT_TRUE(loaded.ok()) << loaded.status().to_string() << " of " << one->text;
      const kit::Outcome found = kit::run(**loaded, one->inputs);
      ASSERT_TRUE(found.status.ok()) << found.status.to_string() << " of " << one->text;
      const auto dims = found.shape.dims();
      const kit::Array array{{dims.begin(), dims.end()}, {found.values.begin(), found.values.end()}};
      const core::Status same = kit::compare(one->graph, one->inputs, {array}, core::Precision::kF32);
      EXPECT_TRUE(same.ok()) << same.to_string() << " of " << one->text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Vendors, OperatorsTest, ::testing::Values(kNewer, kOlder),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace latebind::pjrt::testing
