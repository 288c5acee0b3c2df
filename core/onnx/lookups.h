// Which inputs of a model are indices into a table, and how long that is.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/onnx/network.h"

namespace latebind::onnx {

// How many indices there are for each input that a Gather looks up, and that is only moved before: those of the
// shortest table.
[[nodiscard]] std::map<std::string, std::int64_t> indices_looked_up(const Network& network);

}  // namespace latebind::onnx
