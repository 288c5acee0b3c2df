// Shapes and names of tensors as people write them: "1x128", NAME=1x128.
//
// Pure functions. `option` is what the text was given as, for messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/tensor.h"

namespace latebind::app {

// "1x128" as a shape, every dimension from `least` to `most`; else kInvalidArgument.
[[nodiscard]] core::Result<core::Shape> parse_dims(std::string_view option, std::string_view text, std::int64_t least,
                                                   std::int64_t most);
// The same, with "scalar" for rank 0.
[[nodiscard]] core::Result<core::Shape> parse_shape(std::string_view option, std::string_view text,
                                                    std::int64_t least = 0, std::int64_t most = std::int64_t{1} << 40);

// "1x128"; "scalar" for rank 0.
[[nodiscard]] std::string shape_text(const core::Shape& shape);

// Values of NAME=VALUE by the position of NAME among `declared`, each of which is a `what` in errors. Names may contain
// '=' themselves: the longest name that fits wins. kInvalidArgument for unknown names and for those given twice.
[[nodiscard]] core::Result<std::map<std::size_t, std::string>> match_by_name(std::span<const core::TensorInfo> declared,
                                                                             std::string_view what,
                                                                             std::string_view option,
                                                                             const std::vector<std::string>& given);

}  // namespace latebind::app
