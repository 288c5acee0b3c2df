// Lists the backends, and adds plug-ins to the user's folder and removes them from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/client.h"
#include "app/json_text.h"
#include "backends/plugin/found/first_contact.h"
#include "core/backend/backend_setting.h"
#include "core/backend/diagnosis.h"
#include "core/backend/registry.h"
#include "core/result.h"

namespace latebind::app {

struct BackendListing {
  struct OfBackend {
    std::string name;  // empty for a manifest that cannot be read
    // "ready"; "unavailable": for the reason that the backend gives; "refused": a plug-in that failed its first
    // contact; "unusable": its manifest or library cannot be used; "hidden": another plug-in of that name comes first.
    std::string state;
    std::string reason{};  // empty if it is ready
    std::string version{};
    bool is_built_in = false;
    // Of plug-ins: the manifest, the library, the rule of the search that found it, and its description.
    std::string file{};
    std::string library{};
    std::string source{};
    std::string description{};
    std::vector<std::string> devices{};           // their ids
    std::vector<plugin::SettingNote> settings{};  // plugin.NAME.KEY
  };
  std::vector<OfBackend> backends;       // in order of preference
  std::vector<core::SearchStep> search;  // every place where manifests were looked for
};

// Queries every backend of `registry`. Plug-ins are not opened in this process: the result of their first contact with
// a child process is listed, and `again` repeats that contact. The only error is kCancelled.
[[nodiscard]] core::Result<BackendListing> list_backends(const core::Registry& registry,
                                                         const core::BackendSettingTexts& texts, bool again,
                                                         const Client& client);

struct AddedBackend {
  std::string name;
  std::string file;     // the manifest that was written
  std::string library;  // where the library stays
  std::string version;
  std::vector<std::string> devices{};
  // Why the plug-in cannot be used for now, in its own words or because another manifest hides it.
  std::string reason{};
};

// Adds a plug-in: writes a manifest that names its library to the user's folder. `file` is the plug-in's manifest or
// its library. A child process opens the library first, and a plug-in that does not pass is not added.
[[nodiscard]] core::Result<AddedBackend> add_backend(const std::string& file, const core::BackendSettingTexts& texts,
                                                     const Client& client);

struct RemovedBackend {
  std::string name;
  std::vector<std::string> files;  // the manifests that were removed; libraries stay
};

// Removes a plug-in's manifests from the user's folder. kNotFound if there is none; kPermissionDenied if the plug-in is
// in another place, which the message names.
[[nodiscard]] core::Result<RemovedBackend> remove_backend(std::string_view name,
                                                          const core::BackendSettingTexts& texts);

// {backends: [{name, state, reason, version, built_in, file, library, source, description, devices, settings: [{key,
// value, help}]}], search: [{place, source, outcome}]}
[[nodiscard]] Json to_json(const BackendListing& listing);
// {name, file, library, version, devices, reason}
[[nodiscard]] Json to_json(const AddedBackend& added);
// {name, files}
[[nodiscard]] Json to_json(const RemovedBackend& removed);

}  // namespace latebind::app
