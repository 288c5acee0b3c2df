// Which inputs of a model are indices into a table, and how long that is.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "core/onnx/network.h"

namespace latebind::onnx {

// How many indices there are for each input that a Gather looks up, and that is only moved before: those of the
// shortest table.
[[nodiscard]] std::map<std::string, std::int64_t> indices_looked_up(const Network& network);

// Inputs that may be masks: integers that are counted, or that become floating-point numbers, and are only moved
// before.
[[nodiscard]] std::set<std::string> masks_of(const Network& network);

}  // namespace latebind::onnx
