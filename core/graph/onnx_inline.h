// Writes an ONNX model in memory, whose external data is in memory too, as one model that contains all of its data. For
// vendors that take external data only from files, when no file can be written.
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

// The largest model that readers of protobuf take.
inline constexpr std::size_t kModelBytesMax = std::size_t{1984} << 20U;

// Returns the bytes of the external file of this name, or std::nullopt if no file has this name.
using ExternalBytes = std::function<std::optional<std::span<const std::byte>>(std::string_view location)>;

// Inlines the data of the graph's initializers; data of other tensors stays where it is. kInvalidModel for a damaged
// model, and for a place that its file does not have; kUnsupported when the result would exceed kModelBytesMax.
[[nodiscard]] core::Result<std::string> with_inline_data(std::span<const std::byte> model, const ExternalBytes& files);

}  // namespace latebind::graph
