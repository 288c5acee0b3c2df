// First contact with a plug-in: a child process is the first to open its library, to create it, to ask for its devices
// and to run a tiny model on each. The result is remembered in the cache folder.
//
// An entry is valid for a library's bytes (their digest; a file that has not changed is not read again), for the
// plug-in's settings and for this Latebind. A success covers the devices that it has seen, with the versions of what
// drives them. What crashes, hangs, cannot be opened or computes wrongly is tried again after an hour, because its
// cause may be gone; a hang would otherwise cost every start its time limit. Not remembered is what says nothing about
// the plug-in: a signal from outside, a lack of memory. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/backend/backend.h"
#include "core/backend/backend_setting.h"
#include "core/result.h"
#include "core/vendor/child_trial.h"

namespace latebind::plugin {

// The settings of a plug-in that are set, without the prefix "plugin.NAME.".
using PluginSettings = core::BackendSettingTexts;

// A setting that a plug-in has, for people.
struct SettingNote {
  std::string key;
  std::string value;  // what a value looks like
  std::string help;

  friend bool operator==(const SettingNote&, const SettingNote&) = default;
};

struct OpenedPlugin {
  std::shared_ptr<core::Backend> backend;
  std::vector<SettingNote> settings;
};

// Opens a plug-in's library, in this process or in one that is kept, checks its table and the settings, and creates the
// backend. `digest` is the library's SHA-256 if it is known, otherwise empty.
using OpenPlugin = std::function<core::Result<OpenedPlugin>(const std::string& library, const std::string& digest,
                                                            const PluginSettings& settings)>;

// What the child found.
struct ContactReport {
  std::string name;     // that the library gives itself
  std::string version;  // Backend::runtime_version(); empty when the plug-in was not available
  // Why the plug-in cannot be used for now, in its own words: a driver is missing, say. Its library is harmless.
  core::Status availability{};
  // The names of the devices, and the versions of what drives them.
  std::vector<std::pair<std::string, std::string>> devices{};
  std::vector<SettingNote> settings{};
  // The library's SHA-256, which the parent adds; empty if it is not known.
  std::string digest{};

  // Whether the child has found the plug-in available, and has seen all these devices as they are.
  [[nodiscard]] bool covers(const std::vector<core::Device>& found) const;
};

// Returns what the child found, now or before; `again` leaves out what is remembered. Errors: kDeviceFailed for a
// plug-in that crashes, hangs or computes wrongly; kLibraryUnusable and others when it cannot be opened; kNotFound if
// there is no program for the child.
[[nodiscard]] core::Result<ContactReport> first_contact(const core::TrialOptions& options, const std::string& library,
                                                        const std::string& name, const PluginSettings& settings,
                                                        bool again = false);

// Stands for whatever name a library gives itself.
inline constexpr std::string_view kAnyName = "*";

// The child's side: the name of its command, and what it does, which returns the line for the parent.
inline constexpr const char* kContactCommand = "try-backend";
[[nodiscard]] std::string run_contact(const OpenPlugin& open, const std::string& library, const std::string& name,
                                      const std::string& settings);

// The settings as the child receives them.
[[nodiscard]] std::string to_text(const PluginSettings& settings);

}  // namespace latebind::plugin
