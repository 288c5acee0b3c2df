// The places where ONNX Runtime's library may be, as data for core/vendor/vendor_search.h.
#pragma once

#include <string>

#include "core/vendor/vendor_search.h"

namespace latebind::onnxruntime {

inline constexpr const char* kLibraryVariable = "LATEBIND_ONNXRUNTIME_LIBRARY";
// Besides Latebind's variable, the search uses ORT_LIB_PATH and ORT_DYLIB_PATH, which users of the Rust binding know.
[[nodiscard]] core::VendorLibrary wanted_library(core::System system);

}  // namespace latebind::onnxruntime
