// Finds the inputs of a model that are indices into a table, and the table's length. Pure functions, for any thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "core/onnx/network.h"

namespace latebind::onnx {

// For each input that a Gather, or a similar operator, uses as indices, after operators that only move numbers at most,
// returns the number of valid indices: the length of the shortest such table.
[[nodiscard]] std::map<std::string, std::int64_t> indices_looked_up(const Network& network);

// Returns the inputs that may be masks: integers that are counted, or converted to floating-point numbers, after
// operators that only move numbers at most.
[[nodiscard]] std::set<std::string> masks_of(const Network& network);

}  // namespace latebind::onnx
