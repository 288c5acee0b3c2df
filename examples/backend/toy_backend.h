// toy: a whole backend in two files, to begin one of your own from. docs/contributing/adding-a-backend.md walks through
// it.
//
// It has one device, needs no vendor's library, and runs models that add two tensors of f32: it computes from the
// graph, as it is. Everything else it refuses by name, so that placement goes on.
#pragma once

#include <memory>
#include <string_view>

#include "core/backend.h"
#include "core/backend_setting.h"

namespace latebind::toy {

inline constexpr const char* kBackendName = "toy";

// As the settings say, of which there are none. Opens nothing.
[[nodiscard]] std::shared_ptr<core::Backend> configured_backend(const core::BackendSettingTexts& texts);

}  // namespace latebind::toy
