#include "backends/plugin/found/plugin_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/platform/system_info.h"
#include "core/text/one_line.h"
#include "latebind/latebind_backend.h"

namespace latebind::plugin {
namespace {

using core::FileSystem;
using core::System;
using Kind = FileSystem::Kind;

// More than anybody installs on purpose.
constexpr std::size_t kFilesOfFolderMax = 64;
constexpr std::size_t kEntriesMax = 128;
constexpr std::string_view kFolder = "latebind/backends";
constexpr std::string_view kPackageManifest = "latebind_backend_*/latebind_backend.json";
// Variables of the user's folder for data.
constexpr const char* kDataVariable = "XDG_DATA_HOME";
constexpr const char* kWindowsDataVariable = "LOCALAPPDATA";

class Search {
 public:
  Search(const PluginFacts& facts, const FileSystem& files) : facts_(facts), files_(files) {}

  PluginEntry read_named(const std::string& file, const std::string& source) && {
    is_named_ = true;
    return read(file, source);
  }

  PluginSearch make() && {
    if (!add_named()) {
      add_beside_module();
      add_python();
      if (const std::string folder = user_plugin_folder(facts_); !folder.empty()) add_folder(folder, "user's plug-ins");
      add_system();
    }
    choose();
    for (const PluginEntry& entry : result_.entries)
      finish_step(entry);
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string variable(const std::string& name) const {
    const auto found = facts_.search.variables.find(name);
    return found == facts_.search.variables.end() ? std::string() : found->second;
  }

  // Rule 1. Returns whether the search ends here.
  bool add_named() {
    const System system = facts_.search.system;
    const bool is_set = !facts_.search.explicit_path.empty();
    const std::string source = is_set ? "the setting backends.path" : kPathVariable;
    is_named_ = true;
    bool ends = false;
    for (std::string path : core::split_paths(is_set ? facts_.search.explicit_path : variable(kPathVariable), system)) {
      if (path == kNoPlugins) {
        ends = true;
        break;
      }
      while (path.size() > 1 && path.ends_with('/'))
        path.pop_back();
      if (!core::is_absolute_path(path, system)) {
        miss(path, source, "the path is relative, and the current folder is never searched: give the full path");
      } else if (files_.kind_of(path) == Kind::kFile) {
        add_manifest(path, source);
      } else {
        add_folder(path, source);
      }
    }
    is_named_ = false;
    return ends;
  }

  // Rule 2.
  void add_beside_module() {
    const std::string& folder = facts_.search.module_folder;
    const std::string prefix = core::parent_folder(folder);
    if (prefix.empty()) return;
    add_folder(fmt::format("{}/lib/{}", prefix, kFolder), "beside the program");
    if (core::last_part(folder) != "bin") add_folder(fmt::format("{}/{}", folder, kFolder), "beside the library");
  }

  // Rule 3.
  void add_python() {
    if (const std::string packages = core::python_packages_of(facts_.search); !packages.empty())
      add_packages(packages, std::string(kPackageManifest), "beside the Python package");
    is_named_ = true;
    for (const char* name : core::kPythonVariables) {
      const std::string prefix = variable(name);
      if (!core::is_absolute_path(prefix, facts_.search.system)) continue;
      const bool windows = facts_.search.system == System::kWindows;
      add_packages(prefix,
                   (windows ? "Lib/site-packages/" : "lib/python3*/site-packages/") + std::string(kPackageManifest),
                   name);
      add_folder(fmt::format("{}/lib/{}", prefix, kFolder), name);
    }
    is_named_ = false;
  }

  // Rule 5. On Windows, the system's folder for data takes files from everybody.
  void add_system() {
    if (facts_.search.system == System::kWindows) return;
    add_folder("/etc/latebind/backends", "system");
    for (const std::string& lib :
         {std::string("/usr/local/lib"), fmt::format("/usr/lib/{}-linux-gnu", facts_.search.architecture),
          std::string("/usr/lib64"), std::string("/usr/lib")})
      add_folder(fmt::format("{}/{}", lib, kFolder), "system");
  }

  void add_packages(const std::string& base, const std::string& pattern, const std::string& source) {
    const auto found = core::expand_pattern(base, pattern, files_, Kind::kFile);
    if (found.empty()) return miss(base + "/" + pattern, source, "no such file");
    std::vector<PluginEntry> entries;
    for (const std::string& file : found)
      entries.push_back(read(file, source));
    add_sorted(std::move(entries));
  }

  void add_folder(const std::string& folder, const std::string& source) {
    if (is_known(folder)) return;
    auto names = files_.names_in(folder);
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".json"); });
    if (names.empty()) {
      const bool is_there = files_.kind_of(folder) == Kind::kFolder;
      return miss(folder, source, is_there ? "no manifest (*.json) in it" : "no such folder");
    }
    std::ranges::sort(names);
    if (names.size() > kFilesOfFolderMax) {
      miss(folder, source, fmt::format("has {} manifests; the first {} are read", names.size(), kFilesOfFolderMax));
      names.resize(kFilesOfFolderMax);
    }
    std::vector<PluginEntry> entries;
    for (const std::string& name : names)
      entries.push_back(read(fmt::format("{}/{}", folder, name), source));
    add_sorted(std::move(entries));
  }

  void add_manifest(const std::string& file, const std::string& source) { add_sorted({read(file, source)}); }

  // Adds the manifests of one place: by name, and of one name the newest file first ("toy-2.json", "toy-1.json").
  void add_sorted(std::vector<PluginEntry> entries) {
    std::ranges::stable_sort(entries, [](const PluginEntry& a, const PluginEntry& b) {
      if (a.manifest.name != b.manifest.name) return a.manifest.name < b.manifest.name;
      return core::newer_name(core::last_part(a.file), core::last_part(b.file));
    });
    for (PluginEntry& entry : entries) {
      const auto known = std::ranges::find(result_.entries, entry.file, &PluginEntry::file);
      if (known != result_.entries.end()) {
        // A file that was left out may be named by the user further down the list.
        if (known->left_out && is_named_) *known = std::move(entry);
        continue;
      }
      if (result_.entries.size() >= kEntriesMax) continue;
      result_.trace.push_back({entry.file, entry.source, {}, false});
      result_.entries.push_back(std::move(entry));
    }
  }

  // Reads a manifest and looks for everything that speaks against the plug-in.
  [[nodiscard]] PluginEntry read(const std::string& file, const std::string& source) const {
    PluginEntry entry{.file = file, .source = source};
    // Nothing that is in an untrusted file counts, not even its name.
    if (!is_named_) {
      if (const std::string why = files_.why_not_trusted(file); !why.empty()) {
        entry.left_out = true;
        entry.why_not = fmt::format("skipped, because it was found and not named, and {}", why);
        return entry;
      }
    }
    const std::string text = files_.text_of(file);
    if (text.empty()) {
      entry.why_not = "cannot be read, or is empty";
      return entry;
    }
    auto manifest = parse_manifest(text, core::last_part(file));
    if (!manifest.ok()) {
      entry.why_not = core::one_line(manifest.status().message());
      return entry;
    }
    entry.manifest = *std::move(manifest);
    const std::string& library = entry.manifest.library;
    entry.library = core::is_absolute_path(library, facts_.search.system)
                        ? library
                        : fmt::format("{}/{}", core::parent_folder(file), library);
    entry.why_not = why_not(entry);
    return entry;
  }

  std::string why_not(PluginEntry& entry) const {
    const Manifest& manifest = entry.manifest;
    if (std::string why = why_not_named(manifest.name, facts_); !why.empty()) return why;
    if (manifest.platform != facts_.platform)
      return fmt::format("it is for {}, and this is {}", manifest.platform, facts_.platform);
    if (manifest.contract_most < facts_.contract_least || manifest.contract_least > facts_.contract_most) {
      return fmt::format(
          "it speaks versions {} to {} of the contract, and this Latebind versions {} to {}: install "
          "versions that fit",
          manifest.contract_least, manifest.contract_most, facts_.contract_least, facts_.contract_most);
    }
    if (files_.kind_of(entry.library) != Kind::kFile)
      return fmt::format("its library {} does not exist", entry.library);
    if (is_named_) return {};
    const std::string why = files_.why_not_trusted(entry.library);
    entry.left_out = !why.empty();
    return why.empty() ? why : fmt::format("its library was found and not named, and {}", why);
  }

  [[nodiscard]] bool may_have_its_name(const PluginEntry& entry) const {
    return !entry.manifest.name.empty() && why_not_named(entry.manifest.name, facts_).empty();
  }

  void choose() {
    for (const bool usable : {true, false}) {
      for (PluginEntry& entry : result_.entries) {
        if (!may_have_its_name(entry) || (usable && !entry.why_not.empty())) continue;
        const auto chosen = std::ranges::find_if(result_.entries, [&](const PluginEntry& other) {
          return other.is_chosen && other.manifest.name == entry.manifest.name;
        });
        if (chosen == result_.entries.end()) {
          entry.is_chosen = true;
        } else if (&*chosen != &entry && entry.why_not.empty()) {
          entry.is_hidden = true;
          entry.why_not = fmt::format("hidden by {}, which comes first in the order of the search", chosen->file);
        }
      }
    }
  }

  void finish_step(const PluginEntry& entry) {
    const auto step = std::ranges::find(result_.trace, entry.file, &core::SearchStep::place);
    step->outcome = entry.why_not.empty() ? fmt::format("plug-in {}", entry.manifest.name) : entry.why_not;
  }

  void miss(const std::string& place, const std::string& source, const std::string& why) {
    if (!is_known(place)) result_.trace.push_back({place, source, why, false});
  }
  [[nodiscard]] bool is_known(const std::string& place) const {
    return std::ranges::find(result_.trace, place, &core::SearchStep::place) != result_.trace.end();
  }

  const PluginFacts& facts_;
  const FileSystem& files_;
  bool is_named_ = false;  // whether the user named what is added now
  PluginSearch result_;
};

}  // namespace

PluginFacts PluginFacts::gather(std::string path) {
  core::VendorLibrary wanted;
  wanted.library_variables = {kPathVariable};
  wanted.installation_variables = {kDataVariable, kWindowsDataVariable};
  PluginFacts facts;
  facts.search = core::SearchFacts::gather(wanted, std::move(path));
  facts.platform = platform::platform_name();
  facts.contract_least = LBB_ABI;
  facts.contract_most = LBB_ABI;
  return facts;
}

PluginSearch search_plugins(const PluginFacts& facts, const FileSystem& files) {
  return Search(facts, files).make();
}

PluginEntry read_plugin(const std::string& file, const PluginFacts& facts, const FileSystem& files) {
  return Search(facts, files).read_named(file, "named");
}

std::string why_not_named(const std::string& name, const PluginFacts& facts) {
  if (std::ranges::find(facts.reserved, name) == facts.reserved.end()) return {};
  return fmt::format("'{}' is a name of Latebind itself: the plug-in needs another one", name);
}

std::string user_plugin_folder(const PluginFacts& facts) {
  const core::SearchFacts& search = facts.search;
  if (search.privileged) return {};
  const bool windows = search.system == System::kWindows;
  const auto data = search.variables.find(windows ? kWindowsDataVariable : kDataVariable);
  if (data != search.variables.end() && core::is_absolute_path(data->second, search.system))
    return fmt::format("{}/{}", data->second, kFolder);
  if (search.home_folder.empty()) return {};
  return fmt::format("{}/{}/{}", search.home_folder, windows ? "AppData/Local" : ".local/share", kFolder);
}

}  // namespace latebind::plugin
