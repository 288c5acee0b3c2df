#include "kit/run_graph.h"

#include <cstdint>
#include <stdexcept>
#include <utility>

namespace latebind::kit {
namespace {

// The elements of an input in its own type.
struct InputMemory {
  std::vector<std::int64_t> integers;
  std::vector<float> numbers;

  explicit InputMemory(const core::TensorInfo& info, const Array& array) {
    if (info.type == core::ElementType::kI64) {
      integers.assign(array.values.begin(), array.values.end());
    } else {
      numbers.assign(array.values.begin(), array.values.end());
    }
  }
  [[nodiscard]] void* data() { return numbers.empty() ? static_cast<void*>(integers.data()) : numbers.data(); }
};

}  // namespace

std::vector<Outcome> run_all(core::Executable& executable, const Inputs& inputs, const core::RunOptions& options) {
  std::vector<InputMemory> memory;
  std::vector<core::TensorView> views;
  for (const core::TensorInfo& info : executable.inputs()) {
    const auto found = inputs.find(info.name);
    if (found == inputs.end())
      throw std::logic_error("the loaded model has the input '" + info.name + "', which its graph does not have");
    const Array& array = found->second;
    memory.emplace_back(info, array);
    views.push_back({nullptr, info.type, *core::Shape::make(array.shape), std::nullopt});
  }
  for (std::size_t i = 0; i < views.size(); ++i)
    views[i].data = memory[i].data();
  std::vector<core::OutputTensor> outputs(executable.outputs().size());
  std::vector<Outcome> outcomes(outputs.size());
  const core::Status status = executable.execute(views, outputs, options);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outcomes[i].status = status;
    if (!status.ok()) continue;
    outcomes[i].shape = outputs[i].view().shape;
    const auto* const values = static_cast<const float*>(outputs[i].view().data);
    outcomes[i].values.assign(values, values + *outcomes[i].shape.element_count());
  }
  return outcomes;
}

Outcome run(core::Executable& executable, const Inputs& inputs, const core::RunOptions& options) {
  return std::move(run_all(executable, inputs, options).front());
}

}  // namespace latebind::kit
