// toy: a complete backend in two files, as a starting point for new ones. docs/contributing/adding-a-backend.md
// explains it step by step.
//
// It has one device, needs no vendor library, and runs models that add two f32 tensors, computing directly from the
// graph. It rejects every other model with the reason, so that placement tries the next device. All functions may be
// called from any thread.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "core/backend/backend.h"
#include "core/backend/backend_setting.h"

namespace latebind::toy {

inline constexpr const char* kBackendName = "toy";

// The backend's settings. toy has none, but the list of backends (app/backends.cpp) needs the table.
inline constexpr std::span<const core::BackendSetting> kSettings{};

// Creates the backend from its settings. Opens no library.
[[nodiscard]] std::shared_ptr<core::Backend> configured_backend(const core::BackendSettingTexts& texts);

}  // namespace latebind::toy
