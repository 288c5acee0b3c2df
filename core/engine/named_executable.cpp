#include "core/engine/named_executable.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/onnx/port_names.h"

namespace latebind::core {
namespace {

class NamedExecutable final : public Executable {
 public:
  NamedExecutable(std::unique_ptr<Executable> loaded, std::vector<TensorInfo> inputs, std::vector<TensorInfo> outputs)
      : loaded_(std::move(loaded)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
    set_passed_over(loaded_->passed_over());
    note_verification(loaded_->verification());
  }

  [[nodiscard]] std::span<const TensorInfo> inputs() const override { return inputs_; }
  [[nodiscard]] std::span<const TensorInfo> outputs() const override { return outputs_; }
  [[nodiscard]] const ActiveConfig& active() const override { return loaded_->active(); }
  [[nodiscard]] Status prepare() override { return loaded_->prepare(); }
  [[nodiscard]] std::size_t hung_runs() override { return loaded_->hung_runs(); }
  [[nodiscard]] std::size_t spoiled_by() const override { return loaded_->spoiled_by(); }

 private:
  [[nodiscard]] Status run(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                           const RunOptions& options) override {
    return loaded_->execute(inputs, outputs, options);
  }

  const std::unique_ptr<Executable> loaded_;
  const std::vector<TensorInfo> inputs_;
  const std::vector<TensorInfo> outputs_;
};

// Returns `ports` with these names, by position.
std::optional<std::vector<TensorInfo>> renamed(std::span<const TensorInfo> ports, std::span<const std::string> names) {
  if (ports.size() != names.size()) return std::nullopt;
  std::vector<TensorInfo> all(ports.begin(), ports.end());
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].name = names[i];
  return all;
}

}  // namespace

std::unique_ptr<Executable> with_names_of(const Model& model, std::unique_ptr<Executable> loaded) {
  const ModelForm* form = model.find(ModelFormat::kOnnx);
  if (form == nullptr || model.graph() != nullptr) return loaded;
  const auto content = form->open();
  if (!content.ok()) return loaded;  // the file was removed after the vendor read it
  const onnx::PortNames names = onnx::port_names_of(content->bytes);
  if (std::ranges::equal(loaded->inputs(), names.inputs, {}, &TensorInfo::name) &&
      std::ranges::equal(loaded->outputs(), names.outputs, {}, &TensorInfo::name)) {
    return loaded;
  }
  auto inputs = renamed(loaded->inputs(), names.inputs);
  auto outputs = renamed(loaded->outputs(), names.outputs);
  if (!inputs || !outputs) return loaded;
  return std::make_unique<NamedExecutable>(std::move(loaded), *std::move(inputs), *std::move(outputs));
}

}  // namespace latebind::core
