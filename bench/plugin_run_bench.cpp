// What a run costs that goes through the contract for plug-ins and back: core -> lbb_table -> core. The backend
// computes nothing, so that only the way remains.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/plugin/backend.h"
#include "backends/table/offer.h"
#include "core/graph/graph.h"

namespace {

using latebind::core::ElementType;
using latebind::core::OutputTensor;
using latebind::core::Result;
using latebind::core::Shape;
using latebind::core::Status;
using latebind::core::TensorInfo;
using latebind::core::TensorView;
namespace core = latebind::core;

constexpr std::int64_t kColumns = 384;

// Takes ids and a mask, as an encoder does, and gives a vector for each text.
class Nothing final : public core::Executable {
 public:
  Nothing() {
    active_.backend = "nothing";
    active_.device = "CPU";
    active_.requests = 4;
  }
  [[nodiscard]] std::span<const TensorInfo> inputs() const override { return inputs_; }
  [[nodiscard]] std::span<const TensorInfo> outputs() const override { return outputs_; }
  [[nodiscard]] const core::ActiveConfig& active() const override { return active_; }

 private:
  Status run(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
             const core::RunOptions& /*options*/) override {
    return outputs[0].prepare(ElementType::kF32, Shape{inputs[0].shape[0], kColumns}).status();
  }

  std::vector<TensorInfo> inputs_{{"ids", ElementType::kI64, {core::kDynamic, core::kDynamic}},
                                  {"mask", ElementType::kI64, {core::kDynamic, core::kDynamic}}};
  std::vector<TensorInfo> outputs_{{"vectors", ElementType::kF32, {core::kDynamic, kColumns}}};
  core::ActiveConfig active_;
};

class NothingBackend final : public core::Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "nothing"; }
  [[nodiscard]] Status available() override { return {}; }
  [[nodiscard]] Result<std::string> runtime_version() override { return std::string("1"); }
  [[nodiscard]] Result<std::vector<core::Device>> devices() override {
    core::Device device;
    device.backend = "nothing";
    device.name = "CPU";
    device.kind = core::DeviceKind::kCpu;
    device.traits.precisions = {core::Precision::kF32};
    return std::vector{std::move(device)};
  }
  [[nodiscard]] Result<std::unique_ptr<core::Executable>> load(const core::Model& /*model*/,
                                                               std::string_view /*device*/,
                                                               const core::CompileOptions& /*options*/) override {
    return std::unique_ptr<core::Executable>(std::make_unique<Nothing>());
  }
  [[nodiscard]] core::BackendDiagnosis diagnosis(const Result<std::vector<core::Device>>* /*devices*/) override {
    return {};
  }
};

std::shared_ptr<core::Backend> make(const core::BackendSettingTexts& /*texts*/) {
  return std::make_shared<NothingBackend>();
}

constexpr latebind::table::Offer kOffer{.name = "nothing", .version = "1", .settings = {}, .make = make};

core::Model model() {
  latebind::graph::GraphBuilder builder{core::FilePart{}};
  const auto x = builder.add(latebind::graph::Input{"x", ElementType::kF32, {1}});
  auto graph = std::move(builder).finish(x, "x");
  return core::Model::from_graph("nothing",
                                 {.graph = std::make_shared<const latebind::graph::Graph>(*std::move(graph))});
}

void measure(benchmark::State& state, core::Backend& backend, const core::RunOptions& options) {
  auto loaded = backend.load(model(), "CPU", {});
  if (!loaded.ok()) return state.SkipWithError(loaded.status().to_string().c_str());
  std::array<std::int64_t, 128> ids{};
  const TensorView view{ids.data(), ElementType::kI64, {8, 16}, std::nullopt};
  const std::array<TensorView, 2> inputs{view, view};
  std::vector<float> out(8 * kColumns);
  for (auto _ : state) {
    OutputTensor output = OutputTensor::bound(out.data(), out.size() * sizeof(float));
    const Status status = (*loaded)->execute(inputs, {&output, 1}, options);
    if (!status.ok()) return state.SkipWithError(status.to_string().c_str());
  }
}

std::shared_ptr<core::Backend> plugged_in() {
  return std::make_shared<latebind::plugin::PluginBackend>(
      latebind::plugin::PluginSource{
          .name = "nothing", .open = [] { return latebind::plugin::check_table(latebind::table::table_of<kOffer>()); }},
      core::BackendSettingTexts{});
}

void run_directly(benchmark::State& state) {
  measure(state, *make({}), {});
}
BENCHMARK(run_directly);

void run_through_the_contract(benchmark::State& state) {
  measure(state, *plugged_in(), {});
}
BENCHMARK(run_through_the_contract);

// As the scheduler runs: the caller may lose interest.
void run_through_the_contract_while_somebody_waits(benchmark::State& state) {
  measure(state, *plugged_in(), {.nobody_waits = core::Cancellation::create()});
}
BENCHMARK(run_through_the_contract_while_somebody_waits);

}  // namespace
