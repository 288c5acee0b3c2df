// An ONNX model in memory whose external data is in memory as well, as one model with all of its data in it: for
// vendors that take external data from files alone, where no file can be written.
//
// Source: onnx.proto. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

namespace latebind::graph {

// What the readers of protobuf take.
inline constexpr std::size_t kModelBytesMax = std::size_t{1984} << 20U;

// The bytes of the external file of this name; nothing when there is none.
using ExternalBytes = std::function<std::optional<std::span<const std::byte>>(std::string_view location)>;

// The data of the graph's initializers; that of other tensors stays where it is. kInvalidModel for a damaged model, and
// for a place that its file does not have; kUnsupported for more than kModelBytesMax.
[[nodiscard]] core::Result<std::string> with_inline_data(std::span<const std::byte> model, const ExternalBytes& files);

}  // namespace latebind::graph
