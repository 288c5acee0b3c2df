// Reads and writes shapes and tensor names as users type them: "1x128", NAME=1x128.
//
// Pure functions. `option` names the source of the text in messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/tensor/tensor.h"

namespace latebind::app {

// Parses "1x128", with every dimension from `least` to `most`. Returns kInvalidArgument for anything else.
[[nodiscard]] core::Result<core::Shape> parse_dims(std::string_view option, std::string_view text, std::int64_t least,
                                                   std::int64_t most);
// Like parse_dims(), but also accepts "scalar" for rank 0.
[[nodiscard]] core::Result<core::Shape> parse_shape(std::string_view option, std::string_view text,
                                                    std::int64_t least = 0, std::int64_t most = std::int64_t{1} << 40);

// "1x128"; "scalar" for rank 0.
[[nodiscard]] std::string shape_text(const core::Shape& shape);

// Maps the values of NAME=VALUE to the position of NAME in `declared`, whose elements errors call `what`. Names may
// contain '='; the longest matching name wins. Returns kInvalidArgument for unknown or repeated names.
[[nodiscard]] core::Result<std::map<std::size_t, std::string>> match_by_name(std::span<const core::TensorInfo> declared,
                                                                             std::string_view what,
                                                                             std::string_view option,
                                                                             const std::vector<std::string>& given);

}  // namespace latebind::app
