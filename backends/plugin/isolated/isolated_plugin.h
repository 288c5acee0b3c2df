// An isolated plug-in: a separate process opens its library and lives as long as the backend. The functions of the
// plug-in's table send questions to that process. Both processes share the memory of tensors and map files of weights.
//
// If the process crashes, exits, or goes on with a run that is over, the calls in it return kDeviceFailed. Models must
// then be loaded again, which starts another process. Answers of the process are not trusted. An isolated plug-in has
// no blobs and no buffers. Functions may be called from any thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "backends/plugin/load_plugin.h"
#include "core/result.h"

namespace latebind::plugin {

struct Isolation {
  std::filesystem::path program;  // `latebind`, whose command kHoldCommand is the process
  // For opening the library and for questions that cost little.
  std::chrono::milliseconds time{60'000};
};

// Like load_plugin(). Returns also kDeviceFailed for a process that ends, and kUnsupported on Windows.
[[nodiscard]] core::Result<PluginPointer> load_isolated(const std::filesystem::path& library, std::string digest,
                                                        const Isolation& isolation);

}  // namespace latebind::plugin
