// Which nodes of an ONNX file compute with whole numbers and truth values alone: shapes, masks and indices. They are
// what may be left to a host's CPU when a device takes the rest of a model.
//
// Source: onnx.proto and the ONNX operators' definitions. Every length is checked. Pure function, for any thread.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

namespace latebind::graph {

// The names of nodes whose inputs are all integers or truth values, whatever they give (a mask becomes numbers), and
// that are no products of matrices. Of the main graph; nodes without a name, with a network within, or of which it is
// not known are none. kInvalidModel when the bytes are not an ONNX model. `name` stands for the file.
[[nodiscard]] core::Result<std::set<std::string, std::less<>>> read_integer_nodes(std::span<const std::byte> bytes,
                                                                                  std::string_view name);

}  // namespace latebind::graph
