// The openvino backend of Latebind.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "backends/openvino/find.h"
#include "core/backend.h"
#include "core/backend_setting.h"

namespace latebind::openvino {

inline constexpr const char* kKnownErrorsVariable = "LATEBIND_OPENVINO_KNOWN_ERRORS";

// Where to find the vendor library, instead of searching.
struct BackendOptions {
  // The library file or its folder; wins over the environment and the search. UTF-8. Empty: search.
  std::string library_path{};
  // A table in place of the built-in one of known errors; UTF-8. Empty: the built-in one.
  std::string known_errors{};
};

inline constexpr std::array kSettings{
    core::BackendSetting{
        "openvino.library", kLibraryVariable, "--openvino-library", "PATH",
        "OpenVINO's C library (libopenvino_c.so…) or its folder. Empty: OPENVINO_LIB_PATH, then the known places are searched."},
    core::BackendSetting{"openvino.known_errors", kKnownErrorsVariable, "", "FILE",
                         "A file that replaces the built-in table of what OpenVINO computes differently from ONNX. An empty file turns the check off."}};

// As kSettings say. Opens nothing.
[[nodiscard]] std::shared_ptr<core::Backend> configured_backend(const core::BackendSettingTexts& texts);

// Opens nothing.
[[nodiscard]] std::shared_ptr<core::Backend> make_backend(BackendOptions options = {});

}  // namespace latebind::openvino
