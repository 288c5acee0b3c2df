// toy: a complete backend in two files, as a starting point for your own. docs/contributing/adding-a-backend.md walks
// through it.
//
// It has one device, needs no vendor's library, and runs models that add two tensors of f32: it computes directly from
// the graph. It rejects everything else, naming it, so that placement goes on.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "core/backend.h"
#include "core/backend_setting.h"

namespace latebind::toy {

inline constexpr const char* kBackendName = "toy";

// What can be set for it: nothing. The list of backends (app/backends.cpp) wants one from every backend.
inline constexpr std::span<const core::BackendSetting> kSettings{};

// From the settings, of which there are none. Opens nothing.
[[nodiscard]] std::shared_ptr<core::Backend> configured_backend(const core::BackendSettingTexts& texts);

}  // namespace latebind::toy
