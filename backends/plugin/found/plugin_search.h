// The search for plug-ins: the manifests in the documented folders, as data.
//
// No library is opened here. What the result depends on comes in as PluginFacts and a FileSystem, so every rule is
// tested on any machine without a file. Paths are UTF-8 with '/' between the parts. Functions may be called from any
// thread.
//
// The places, in order:
//   1. What the setting backends.path names, or else the variable LATEBIND_BACKENDS: manifests, or folders with them.
//   The
//      word `none` in it ends the search there.
//   2. lib/latebind/backends beside the program's folder, and latebind/backends beside the library.
//   3. The Python packages beside Latebind if it is installed as one, then those of the active Python environment:
//      site-packages/latebind_backend_*/latebind_backend.json. Of the environment also lib/latebind/backends.
//   4. The user's folder, ~/.local/share/latebind/backends.
//   5. The system's folders: /etc, /usr/local/lib and /usr/lib.
// The current folder is never searched. In a privileged process all variables and the user's folder are left out. Only
// what rules 1 and 3 (the active environment) found was named by the user; everything else is refused if anybody but
// root or this user could have put the manifest or the library there (core/platform/files/folder_trust.h).
//
// Of several manifests with one name, the first that can be used counts, and the others say which one hides them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/plugin/found/manifest.h"
#include "core/backend/diagnosis.h"
#include "core/vendor/vendor_search.h"

namespace latebind::plugin {

// The word of backends.path that ends the search.
inline constexpr std::string_view kNoPlugins = "none";
inline constexpr const char* kPathVariable = "LATEBIND_BACKENDS";

// What the result depends on, besides the files.
struct PluginFacts {
  core::SearchFacts search;  // explicit_path: the setting backends.path, a list
  std::string platform;      // of this build: "linux-x86_64"
  // The versions of the contract that this build speaks.
  std::uint32_t contract_least = 0;
  std::uint32_t contract_most = 0;
  // Names that no plug-in may have: those of the built-in backends, and words of placements.
  std::vector<std::string> reserved;

  // The facts of this process at this time; `path` is the setting. The caller adds the reserved names.
  static PluginFacts gather(std::string path);
};

// A manifest that was found.
struct PluginEntry {
  std::string file;       // the manifest
  std::string source;     // the rule that led there
  Manifest manifest{};    // as far as it could be read
  std::string library{};  // the full path
  // Why the plug-in cannot be used, in one line; empty for one that can be tried.
  std::string why_not{};
  bool left_out = false;   // why_not says why the file is not trusted
  bool is_hidden = false;  // why_not says which other entry stands for the name
  // This entry stands for its name: the first that can be tried, or if there is none, the first that has the name.
  bool is_chosen = false;
};

struct PluginSearch {
  std::vector<PluginEntry> entries;       // in the order of the search
  std::vector<core::SearchStep> trace{};  // every place, with what is there
};

// Searches by the rules above. Reads manifests and nothing else.
[[nodiscard]] PluginSearch search_plugins(const PluginFacts& facts, const core::FileSystem& files);

// Reads one manifest by its full path, as one that the user has named.
[[nodiscard]] PluginEntry read_plugin(const std::string& file, const PluginFacts& facts, const core::FileSystem& files);

// Why no plug-in may have this name; empty if one may.
[[nodiscard]] std::string why_not_named(const std::string& name, const PluginFacts& facts);

// Returns the user's folder for manifests; empty when it is unknown, and in a privileged process.
[[nodiscard]] std::string user_plugin_folder(const PluginFacts& facts);

}  // namespace latebind::plugin
