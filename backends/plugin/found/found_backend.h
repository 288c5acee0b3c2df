// FoundBackend: a plug-in that the search has found, as a backend. Its library is opened at the first query, after the
// plug-in has passed its first contact in a child process (first_contact.h).
//
// A plug-in that was refused is asked again after a while, since the cause may be gone. A library that was opened stays
// in the process. Thread-safe; while one thread opens the library, the others wait for its result.
#pragma once

#include <chrono>
#include <memory>

#include "backends/plugin/found/first_contact.h"
#include "backends/plugin/found/plugin_search.h"
#include "core/backend/backend.h"

namespace latebind::plugin {

struct FoundOptions {
  PluginSettings settings{};
  core::TrialOptions trial{};
  // How long a refusal holds in this process.
  std::chrono::milliseconds refusal_time{30'000};
};

// Makes the backend of a chosen entry. One with PluginEntry::why_not gives that as its reason. Opens nothing.
[[nodiscard]] std::shared_ptr<core::Backend> make_found_backend(PluginEntry entry, OpenPlugin open,
                                                                FoundOptions options);

}  // namespace latebind::plugin
