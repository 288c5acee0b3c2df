// The places where OpenVINO's C library may be, as data for the search in core/vendor/vendor_search.h.
#pragma once

#include <string>
#include <string_view>

#include "core/vendor/vendor_search.h"

namespace latebind::openvino {

// Latebind's variable, and the one that ExecuTorch uses. Each may name the library or its folder.
inline constexpr const char* kLibraryVariable = "LATEBIND_OPENVINO_LIBRARY";
inline constexpr const char* kExecutorchVariable = "OPENVINO_LIB_PATH";

// The places for a system and an architecture ("x86_64" or "aarch64"), whose folders differ.
[[nodiscard]] core::VendorLibrary vendor_library(core::System system, std::string_view architecture);

}  // namespace latebind::openvino
