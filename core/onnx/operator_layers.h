// What ONNX's layers do to ranges: matrix products, normalisations, recurrent networks, quantisation, and resampling of
// tensors.
//
// Pure functions, for any thread.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/onnx/network.h"
#include "core/onnx/value_range.h"

namespace latebind::onnx {

// Returns the range of the first output, where `x` is the first input; std::nullopt for any other operator.
[[nodiscard]] std::optional<ValueRange> layer_range(const Node& node, const ValueRange& x,
                                                    std::span<const ValueRange* const> inputs);

// Returns the type that an attribute names.
[[nodiscard]] core::ElementType type_of_attribute(const Node& node, std::string_view name, core::ElementType otherwise);

}  // namespace latebind::onnx
