#include "examples/backend/toy_backend.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/graph/graph.h"

namespace latebind::toy {
namespace {

using core::CompileOptions;
using core::Executable;
using core::Model;
using core::Result;
using core::Status;
using core::StatusCode;
using core::TensorInfo;

constexpr const char* kVersion = "1";

// Computes z = x + y, where x and y are inputs of the same shape. The caller of run() has checked counts, types and
// shapes.
class Sum final : public Executable {
 public:
  Sum(std::vector<TensorInfo> inputs, TensorInfo output, std::string device)
      : inputs_(std::move(inputs)), outputs_{std::move(output)} {
    active_.backend = kBackendName;
    active_.device = std::move(device);
    active_.device_full_name = "additions in a loop";
    active_.runtime_version = std::string(kVersion);
    active_.threads = 1;
  }

  [[nodiscard]] std::span<const TensorInfo> inputs() const override { return inputs_; }
  [[nodiscard]] std::span<const TensorInfo> outputs() const override { return outputs_; }
  [[nodiscard]] const core::ActiveConfig& active() const override { return active_; }

 private:
  [[nodiscard]] Status run(std::span<const core::TensorView> inputs, std::span<core::OutputTensor> outputs,
                           const core::RunOptions& options) override {
    LB_RETURN_IF_ERROR(core::check_time(options));
    const core::TensorView& x = inputs[0];
    const core::TensorView& y = inputs[1];
    if (!(x.shape == y.shape)) {
      return {StatusCode::kShapeMismatch,
              fmt::format("'{}' has shape {} and '{}' has shape {}; they must be the same", inputs_[0].name,
                          x.shape.to_string(), inputs_[1].name, y.shape.to_string())};
    }
    LB_ASSIGN_OR_RETURN(const std::size_t count, x.shape.element_count());
    std::vector<float> left(count);
    std::vector<float> right(count);
    LB_RETURN_IF_ERROR(x.copy_to_contiguous(left.data()));
    LB_RETURN_IF_ERROR(y.copy_to_contiguous(right.data()));
    LB_ASSIGN_OR_RETURN(void* const data, outputs[0].prepare(core::ElementType::kF32, x.shape));
    auto* const z = static_cast<float*>(data);
    for (std::size_t i = 0; i < count; ++i)
      z[i] = left[i] + right[i];
    return {};
  }

  const std::vector<TensorInfo> inputs_;
  const std::vector<TensorInfo> outputs_;
  core::ActiveConfig active_;
};

class ToyBackend final : public core::Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return kBackendName; }
  [[nodiscard]] Status available() override { return {}; }
  [[nodiscard]] Result<std::string> runtime_version() override { return std::string(kVersion); }

  [[nodiscard]] Result<std::vector<core::Device>> devices() override {
    core::Device device;
    device.backend = kBackendName;
    device.name = "CPU";
    device.kind = core::DeviceKind::kCpu;
    device.full_name = "additions in a loop";
    device.runtime_version = std::string(kVersion);
    return std::vector{std::move(device)};
  }

  [[nodiscard]] Result<std::unique_ptr<Executable>> load(const Model& model, std::string_view device,
                                                         const CompileOptions& options) override {
    if (device != "CPU") {
      return Status(StatusCode::kDeviceNotFound, fmt::format("toy has no device '{}'; it has CPU", device));
    }
    if (options.precision != core::Precision::kF32) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("toy computes in f32; {} was asked for", core::word_of(options.precision)));
    }
    // An option that is silently ignored would go unnoticed, so it is refused.
    LB_RETURN_IF_ERROR(core::check_counts(options));
    if (!options.input_shapes.empty()) return Status(StatusCode::kUnsupported, "toy compiles for no static shapes");
    if (!options.properties.empty()) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("toy has no property '{}', and no others", options.properties.begin()->first));
    }
    if (model.graph() == nullptr) {
      return Status(StatusCode::kUnsupported, fmt::format("toy reads graphs alone, and '{}' has none", model.name()));
    }
    return load_graph(*model.graph()->graph);
  }

  [[nodiscard]] core::BackendDiagnosis diagnosis(const Result<std::vector<core::Device>>* /*devices*/) override {
    return {.install_hint = "nothing: toy is built in", .is_built_in = true};
  }

 private:
  static Result<std::unique_ptr<Executable>> load_graph(const graph::Graph& graph) {
    const Status refusal(StatusCode::kUnsupported,
                         "toy adds two inputs of f32 and of one shape, and can do nothing else");
    const graph::Node& last = graph.node(graph.output());
    const auto* const add = std::get_if<graph::Add>(&last.op);
    if (add == nullptr || add->a.node == add->b.node) return refusal;
    std::vector<TensorInfo> inputs;  // in the model's order, not in that of the addition's operands
    for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
      const graph::Node& node = graph.nodes()[i];
      const auto* const input = std::get_if<graph::Input>(&node.op);
      if (input == nullptr) continue;
      if ((i != add->a.node && i != add->b.node) || node.type != core::ElementType::kF32) return refusal;
      inputs.push_back({input->name, node.type, node.shape});
    }
    if (inputs.size() != 2 || !(inputs[0].shape == inputs[1].shape)) return refusal;
    TensorInfo output{graph.output_name(), last.type, last.shape};
    return std::unique_ptr<Executable>(std::make_unique<Sum>(std::move(inputs), std::move(output), "CPU"));
  }
};

}  // namespace

std::shared_ptr<core::Backend> configured_backend(const core::BackendSettingTexts& /*texts*/) {
  return std::make_shared<ToyBackend>();
}

}  // namespace latebind::toy
