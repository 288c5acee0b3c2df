// The outermost structure of an ONNX file, checked before a vendor sees it: what was cut off or is no ONNX model at all
// gets our own words with the place, instead of what each vendor makes of it.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>

#include "core/status.h"

namespace latebind::core {

// Walks the fields of ModelProto (protobuf's wire format; source: onnx.proto) by their lengths, without looking into
// them: cheap however large the file is. kInvalidModel with the byte where it goes wrong, or when there is no graph.
[[nodiscard]] Status check_onnx_structure(std::span<const std::byte> bytes);

// False when no tensor of the model, in whatever graph, has its data in another file. Looks at the tensors' fields, not
// at their data; true also for what is damaged or nested too deeply to tell.
[[nodiscard]] bool may_name_external_data(std::span<const std::byte> bytes);

// The files, at most kExternalLocationsMax, that tensors of the model name as the place of their data: as it has them,
// relative to its own. As far as the model can be read.
inline constexpr std::size_t kExternalLocationsMax = 256;
[[nodiscard]] std::set<std::string> external_data_locations(std::span<const std::byte> bytes);

}  // namespace latebind::core
