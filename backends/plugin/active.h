// What a plug-in says about a loaded model, checked and in core's words. Pure function, for any thread.
#pragma once

#include <vector>

#include "backends/plugin/load_plugin.h"
#include "core/backend/executable.h"
#include "core/result.h"

namespace latebind::plugin {

struct Active {
  core::ActiveConfig config{};
  std::vector<core::TensorInfo> inputs{};
  std::vector<core::TensorInfo> outputs{};
  bool releases_bytes = false;  // the model does not refer to weights or to a blob's bytes
};

// kInternal names what is wrong.
[[nodiscard]] core::Result<Active> read_active(const lbb_active* active, const Plugin& plugin);

}  // namespace latebind::plugin
