// The openvino backend: runs models with OpenVINO, whose C library is opened at run time. The backend may be used from
// any thread.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "backends/openvino/find.h"
#include "core/backend/backend.h"
#include "core/backend/backend_setting.h"

namespace latebind::openvino {

inline constexpr const char* kKnownErrorsVariable = "LATEBIND_OPENVINO_KNOWN_ERRORS";

// Settings of the backend.
struct BackendOptions {
  // The library file or its folder, UTF-8; overrides the environment and the search. Empty: search.
  std::string library_path{};
  // A file that replaces the built-in table of known errors, UTF-8. Empty: the built-in table.
  std::string known_errors{};
};

inline constexpr std::array kSettings{
    core::BackendSetting{"openvino.library", kLibraryVariable, "--openvino-library", "PATH",
                         "OpenVINO's C library (libopenvino_c.so…) or its folder. Empty: OPENVINO_LIB_PATH, then the "
                         "known places are searched."},
    core::BackendSetting{"openvino.known_errors", kKnownErrorsVariable, "", "FILE",
                         "A file that replaces the built-in table of what OpenVINO computes differently from ONNX. An "
                         "empty file turns the check off."}};

// Creates the backend from its settings. Opens no library.
[[nodiscard]] std::shared_ptr<core::Backend> configured_backend(const core::BackendSettingTexts& texts);

// Creates the backend. Opens no library.
[[nodiscard]] std::shared_ptr<core::Backend> make_backend(BackendOptions options = {});

}  // namespace latebind::openvino
