// Where OpenVINO's C library may be, as data for the search in core/vendor_search.h.
#pragma once

#include <string>
#include <string_view>

#include "core/vendor_search.h"

namespace latebind::openvino {

// Latebind's own variable, and the one that users of ExecuTorch know. Each may name the library or its folder.
inline constexpr const char* kLibraryVariable = "LATEBIND_OPENVINO_LIBRARY";
inline constexpr const char* kExecutorchVariable = "OPENVINO_LIB_PATH";

// For a system and an architecture ("x86_64" or "aarch64"): Intel's folders differ between them.
[[nodiscard]] core::VendorLibrary vendor_library(core::System system, std::string_view architecture);

}  // namespace latebind::openvino
