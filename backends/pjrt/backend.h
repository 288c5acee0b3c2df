// pjrt: drives accelerators through PJRT, the plug-in interface of JAX and XLA, without any vendor's header.
//
// The setting pjrt.plugins names the libraries. Each is opened at the first query and is one part with its own reason
// if it cannot be used. A device is called by its platform: pjrt:CPU, pjrt:CUDA, pjrt:CUDA.1 for the second one. The
// backend computes from graphs with static shapes, which it writes as StableHLO. It is offered as a plug-in
// (docs/pjrt.md) and may be used from any thread.
#pragma once

#include <array>
#include <memory>

#include "core/backend/backend.h"
#include "core/backend/backend_setting.h"

namespace latebind::pjrt {

inline constexpr const char* kBackendName = "pjrt";

inline constexpr std::array kSettings{core::BackendSetting{
    .key = "pjrt.plugins",
    .environment = "",
    .flag = "",
    .value = "PATHS",
    .help = "PJRT plug-ins to use: full paths of libraries such as xla_cuda_plugin.so or libtpu.so, separated by ':' "
            "(';' on Windows) or commas.",
}};

// Creates the backend from its settings. Opens no library.
[[nodiscard]] std::shared_ptr<core::Backend> configured_backend(const core::BackendSettingTexts& texts);

}  // namespace latebind::pjrt
