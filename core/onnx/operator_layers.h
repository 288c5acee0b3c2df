// What ONNX's layers make of ranges: products of matrices, normalisations, recurrent networks, quantisation, and
// tensors that are sampled at other places.
//
// Pure functions; any thread.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/onnx/network.h"
#include "core/onnx/value_range.h"

namespace latebind::onnx {

// Of the first output, where `x` is the first input; nothing for an operator that is none of these.
[[nodiscard]] std::optional<ValueRange> layer_range(const Node& node, const ValueRange& x,
                                                    std::span<const ValueRange* const> inputs);

// The type that an attribute names.
[[nodiscard]] core::ElementType type_of_attribute(const Node& node, std::string_view name, core::ElementType otherwise);

}  // namespace latebind::onnx
