#include "backends/openvino/packed_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/graph/token_packing.h"
#include "core/octave_steps.h"

namespace latebind::openvino {
namespace {

// Numbers of tokens are rounded up to multiples of eight up to 256, and then to 16 steps an octave, which adds about 2
// % with several texts. Additional rows cost attention only.
constexpr std::size_t kTokensStep = 8;
constexpr std::size_t kTokensStepsInOctave = 16;
constexpr std::size_t kRowsStep = 2;
constexpr std::size_t kRowsStepsInOctave = 4;

}  // namespace

std::optional<Packing> packing_of(std::span<const core::TensorInfo> vendor_inputs) {
  Packing packing;
  std::optional<std::string> mask;
  bool has_slots = false;
  for (std::size_t i = 0; i < vendor_inputs.size(); ++i) {
    const std::string& name = vendor_inputs[i].name;
    if (name.starts_with(graph::kTokenPlaces)) {
      mask = name.substr(graph::kTokenPlaces.size());
      packing.places = i;
    } else if (name.starts_with(graph::kTokenSlots)) {
      has_slots = true;
      packing.slots = i;
    } else {
      packing.given.push_back(i);
    }
  }
  if (!mask || !has_slots) return std::nullopt;
  const auto found = std::ranges::find(vendor_inputs, *mask, &core::TensorInfo::name);
  const auto is_of_tokens = [](const core::TensorInfo& input, std::size_t rank) {
    return input.type == core::ElementType::kI64 && input.shape.rank() == rank;
  };
  const bool all_fit =
      is_of_tokens(vendor_inputs[packing.places], 1) && is_of_tokens(vendor_inputs[packing.slots], 2) &&
      std::ranges::all_of(packing.given,
                          [&](std::size_t position) { return is_of_tokens(vendor_inputs[position], 2); });
  if (found == vendor_inputs.end() || !all_fit) return std::nullopt;
  packing.mask = static_cast<std::size_t>(found - vendor_inputs.begin());
  return packing;
}

std::size_t rows_to_compute(std::size_t rows) {
  return core::in_octave_steps(rows, kRowsStepsInOctave, kRowsStep);
}

std::size_t tokens_to_compute(std::size_t tokens) {
  return core::in_octave_steps(tokens, kTokensStepsInOctave, kTokensStep);
}

core::Status check_same_shape(std::span<const core::TensorInfo> declared, std::span<const core::TensorView> given) {
  for (std::size_t i = 1; i < given.size(); ++i) {
    if (given[i].shape == given[0].shape) continue;
    return core::Status(
        core::StatusCode::kShapeMismatch,
        fmt::format("input '{}' has shape {}, and '{}' has {}: both must have one element for each token",
                    declared[i].name, given[i].shape.to_string(), declared[0].name, given[0].shape.to_string()));
  }
  return {};
}

}  // namespace latebind::openvino
