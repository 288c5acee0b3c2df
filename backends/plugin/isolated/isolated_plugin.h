// An isolated plug-in: its library is opened in a process of its own, which lives as long as the backend, and its table
// of functions asks that process. Tensors are in memory that both processes share, weights in the files where they are.
//
// A process that crashes, leaves or does not stop a run that is over costs the calls that are running in it: they are
// kDeviceFailed, and models must be loaded again, which starts another process. What the process answers is not
// trusted. A plug-in in another process has no blobs and no buffers. Functions may be called from any thread.
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
