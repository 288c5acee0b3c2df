#include "core/vendor/vendor_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/platform/dynamic_library.h"
#include "core/platform/environment.h"
#include "core/platform/files/folders.h"

namespace latebind::core {
namespace {

using Kind = FileSystem::Kind;

// More matches of one pattern than a machine has on purpose.
constexpr std::size_t kMatchesMax = 64;

// A folder below the user's home.
const char* user_runtime(System system) {
  return system == System::kWindows ? "AppData/Local/latebind/runtime" : ".local/share/latebind/runtime";
}

const char* loader_variable(System system) {
  return system == System::kWindows ? "PATH" : "LD_LIBRARY_PATH";
}

// "*" matches the rest of a name and is allowed only at the end.
bool matches(std::string_view name, std::string_view pattern) {
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

std::string with_slashes(std::string path, System system) {
  if (system == System::kWindows) std::ranges::replace(path, '\\', '/');
  return path;
}

// Returns the value of an entry of CMake's cache, which is a line "NAME:TYPE=VALUE".
std::string_view cached_value(std::string_view cache, std::string_view entry) {
  while (!cache.empty()) {
    const auto end = cache.find('\n');
    std::string_view line = cache.substr(0, end);
    cache.remove_prefix(end == std::string_view::npos ? cache.size() : end + 1);
    if (!line.starts_with(entry)) continue;
    line.remove_prefix(entry.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }
  return {};
}

// Whether Latebind was built in this folder. If not, the folder above may belong to anybody, as /tmp does for
// /tmp/unpacked.
bool is_build_tree(const std::string& folder, const FileSystem& files) {
  const std::string cache = files.text_of(folder + "/CMakeCache.txt");
  const std::string place(cached_value(cache, "CMAKE_CACHEFILE_DIR:INTERNAL="));
  return cached_value(cache, "CMAKE_PROJECT_NAME:STATIC=") == "latebind" && !place.empty() &&
         files.is_same(place, folder);
}

class ListMaker {
 public:
  ListMaker(const VendorLibrary& wanted, const SearchFacts& facts, const FileSystem& files)
      : wanted_(wanted), facts_(facts), files_(files), library_(library_name(wanted.stem, facts.system)) {}

  SearchList make() && {
    if (add_choice()) return std::move(list_);
    by_itself_ = true;
    add_shipped();
    by_itself_ = false;
    for (const char* name : kPythonVariables)
      add_installation(name);
    for (const std::string& name : wanted_.installation_variables)
      add_installation(name);
    add_loader_path();
    by_itself_ = true;
    add_user_packages();
    add_system();
    return std::move(list_);
  }

 private:
  [[nodiscard]] const std::string* variable(const std::string& name) const {
    const auto found = facts_.variables.find(name);
    return found == facts_.variables.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const char* unset() const { return facts_.privileged ? "not set, or not trusted here" : "not set"; }

  // Rule 1.
  bool add_choice() {
    const std::string* chosen = nullptr;
    if (!facts_.explicit_path.empty()) {
      chosen = &facts_.explicit_path;
      list_.chosen_by = "the configured library path";
    }
    for (const std::string& name : wanted_.library_variables) {
      if (chosen != nullptr) break;
      chosen = variable(name);
      if (chosen != nullptr) list_.chosen_by = name;
    }
    if (chosen == nullptr) {
      for (const std::string& name : wanted_.library_variables)
        add_miss(name, "environment", unset());
      return false;
    }
    std::string path = *chosen;
    while (path.size() > 1 && path.ends_with('/'))
      path.pop_back();
    const std::string source = list_.chosen_by;
    if (!is_absolute_path(path, facts_.system)) {
      add_miss(path, source, "the path is relative, and the current folder is never searched: give the full path");
      return true;
    }
    switch (files_.kind_of(path)) {
      case Kind::kNothing:
        add_miss(path, source, "does not exist");
        break;
      case Kind::kFolder:
        add_layouts(path, source);
        break;
      case Kind::kFile:
        add_file(path, source);
        break;
    }
    return true;
  }

  // Rule 2 and the first half of rule 3.
  void add_shipped() {
    const std::string prefix = parent_folder(facts_.module_folder);
    if (prefix.empty()) return;
    add_layouts(prefix + "/runtime", "beside the program");
    const std::string above = parent_folder(prefix);
    if (!above.empty() && is_build_tree(prefix, files_)) add_layouts(above + "/runtime", "beside the build");
    // In <site-packages>/latebind/…, the vendor's package is in the same folder.
    if (const std::string packages = python_packages_of(facts_); !packages.empty())
      add(packages, wanted_.package_folder, "beside the Python package");
  }

  void add_installation(const std::string& name) {
    const std::string* value = variable(name);
    if (value == nullptr) return add_miss(name, "environment", unset());
    if (!is_absolute_path(*value, facts_.system))
      return add_miss(*value, name, "a relative path, which is not searched");
    add_layouts(*value, name);
  }

  // Adds a line only for folders with the library in them.
  void add_loader_path() {
    const std::string source = loader_variable(facts_.system);
    const std::string* value = variable(source);
    if (value == nullptr) return;
    const char separator = facts_.system == System::kWindows ? ';' : ':';
    std::string_view rest = *value;
    while (!rest.empty()) {
      const auto end = rest.find(separator);
      const std::string folder(rest.substr(0, end));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      // An empty or relative entry means the current folder.
      if (!is_absolute_path(folder, facts_.system)) continue;
      for (const std::string& library : libraries_in(folder))
        add_file(library, source);
    }
  }

  void add_user_packages() {
    if (facts_.privileged || facts_.home_folder.empty()) return;
    add_layouts(fmt::format("{}/{}", facts_.home_folder, user_runtime(facts_.system)), "user's runtimes");
    const auto add_packages = [this](const std::string& folder) {
      add(facts_.home_folder, folder + wanted_.package_folder, "user's Python packages");
    };
    if (facts_.system == System::kLinux) return add_packages(".local/lib/python3*/site-packages/");
    add_packages("AppData/Roaming/Python/Python3*/site-packages/");
    // Where Python's own installer puts packages, and where the Windows Store does.
    add_packages("AppData/Local/Programs/Python/Python3*/Lib/site-packages/");
    add_packages(
        "AppData/Local/Packages/PythonSoftwareFoundation.Python.3*/LocalCache/local-packages/Python3*/site-packages/");
  }

  void add_system() {
    const std::string source = "system";
    for (const SearchPlace& place : wanted_.system_places)
      add(place.base, place.pattern, source);
    if (facts_.system == System::kWindows) return;
    add("/usr/local/lib", "", source);
    add(fmt::format("/usr/lib/{}-linux-gnu", facts_.architecture), "", source);
    add("/usr/lib64", "", source);
    add("/usr/lib", "", source);
    add("/usr/local/lib", "python3*/dist-packages/" + wanted_.package_folder, source);
    add("/usr/local/lib", "python3*/site-packages/" + wanted_.package_folder, source);
    add("/usr/lib", "python3*/dist-packages/" + wanted_.package_folder, source);
    add("/usr/lib", "python3*/site-packages/" + wanted_.package_folder, source);
  }

  // Adds the libraries in the folders that match a pattern, or one step that says that there are none.
  void add(const std::string& base, const std::string& pattern, const std::string& source) {
    const auto folders = expand_pattern(base, pattern, files_, Kind::kFolder);
    if (folders.empty()) add_miss(pattern.empty() ? base : base + "/" + pattern, source, "no such folder");
    for (const std::string& folder : folders) {
      const auto libraries = libraries_in(folder);
      if (libraries.empty()) add_miss(folder, source, fmt::format("no {} in it", library_));
      for (const std::string& library : libraries)
        add_file(library, source);
    }
  }

  // Does the same for every place below a folder where the library may be. The folder is that of an installation or of
  // a Python environment, or has such an environment in it. Adds a single step when no place has the library.
  void add_layouts(const std::string& base, const std::string& source) {
    if (files_.kind_of(base) != Kind::kFolder) return add_miss(base, source, "no such folder");
    const bool windows = facts_.system == System::kWindows;
    const std::string packages =
        (windows ? "Lib/site-packages/" : "lib/python3*/site-packages/") + wanted_.package_folder;
    std::vector<std::string> layouts{"", windows ? "bin" : "lib", wanted_.package_folder, packages, "venv/" + packages};
    layouts.insert(layouts.end(), wanted_.layouts.begin(), wanted_.layouts.end());
    bool found = false;
    for (const std::string& layout : layouts) {
      for (const std::string& folder : expand_pattern(base, layout, files_, Kind::kFolder)) {
        for (const std::string& library : libraries_in(folder)) {
          add_file(library, source);
          found = true;
        }
      }
    }
    if (!found) {
      add_miss(base, source, fmt::format("no {} in it or in the folders below where it is installed", library_));
    }
  }

  // The plain name comes first, because its version was chosen on purpose; then the newest.
  [[nodiscard]] std::vector<std::string> libraries_in(const std::string& folder) const {
    auto names = files_.names_in(folder);
    std::erase_if(names, [&](const std::string& name) { return !is_library_name(name, library_, facts_.system); });
    std::ranges::sort(names, [&](const std::string& a, const std::string& b) {
      if ((a == library_) != (b == library_)) return a == library_;
      return newer_name(a, b);
    });
    std::vector<std::string> paths;
    for (const std::string& name : names) {
      std::string path = fmt::format("{}/{}", folder, name);
      if (files_.kind_of(path) == Kind::kFile) paths.push_back(std::move(path));
    }
    return paths;
  }

  void add_miss(const std::string& place, const std::string& source, const std::string& why) {
    if (!is_known(place)) list_.candidates.push_back({place, source, why});
  }
  void add_file(const std::string& path, const std::string& source) {
    if (is_known(path)) return;
    list_.candidates.push_back(by_itself_ ? found_by_itself(path, source, files_) : SearchCandidate{path, source, {}});
  }
  // A file that was left out may be named by the user further down the list.
  [[nodiscard]] bool is_known(const std::string& place) const {
    return std::ranges::any_of(list_.candidates, [&](const SearchCandidate& one) {
      return one.place == place && (by_itself_ || !one.left_out);
    });
  }

  const VendorLibrary& wanted_;
  const SearchFacts& facts_;
  const FileSystem& files_;
  const std::string library_;
  bool by_itself_ = false;  // whether what is added now was found by the search itself
  SearchList list_;
};

}  // namespace

std::vector<std::string> expand_pattern(const std::string& base, std::string_view pattern, const FileSystem& files,
                                        FileSystem::Kind kind) {
  std::vector<std::string> folders{base};
  while (!pattern.empty()) {
    const auto slash = pattern.find('/');
    const std::string_view part = pattern.substr(0, slash);
    pattern.remove_prefix(slash == std::string_view::npos ? pattern.size() : slash + 1);
    std::vector<std::string> next;
    for (const std::string& folder : folders) {
      if (!part.ends_with('*')) {
        next.push_back(fmt::format("{}/{}", folder, part));
        continue;
      }
      auto names = files.names_in(folder);
      std::erase_if(names, [&](const std::string& name) { return !matches(name, part); });
      std::ranges::sort(names, newer_name);
      for (const std::string& name : names)
        next.push_back(fmt::format("{}/{}", folder, name));
    }
    if (next.size() > kMatchesMax) next.resize(kMatchesMax);
    folders = std::move(next);
  }
  std::erase_if(folders, [&](const std::string& folder) { return files.kind_of(folder) != kind; });
  return folders;
}

std::string python_packages_of(const SearchFacts& facts) {
  const std::string prefix = parent_folder(facts.module_folder);
  for (const std::string& folder : {facts.module_folder, prefix, parent_folder(prefix)}) {
    if (folder.ends_with("site-packages") || folder.ends_with("dist-packages")) return folder;
  }
  return {};
}

std::string pip_command(std::string_view package, System system) {
  if (system == System::kWindows) {
    return fmt::format(R"(pip install -U --target "%LOCALAPPDATA%\latebind\runtime" {})", package);
  }
  return fmt::format("pip install -U --target ~/{} {}", user_runtime(system), package);
}

SearchFacts SearchFacts::gather(const VendorLibrary& wanted, std::string explicit_path) {
  SearchFacts facts;
  facts.system = own_system();
  facts.architecture = own_architecture();
  facts.privileged = platform::is_privileged();
  facts.explicit_path = with_slashes(std::move(explicit_path), facts.system);
  const auto read = [&](const std::string& name) {
    if (auto value = platform::trusted_environment(name.c_str())) {
      facts.variables[name] = with_slashes(*std::move(value), facts.system);
    }
  };
  for (const std::string& name : wanted.library_variables)
    read(name);
  for (const std::string& name : wanted.installation_variables)
    read(name);
  for (const char* name : kPythonVariables)
    read(name);
  read(loader_variable(facts.system));
  if (const auto module = platform::own_module_file(); module.ok()) {
    facts.module_folder = with_slashes(platform::path_to_utf8(module->parent_path()), facts.system);
  }
  if (const auto home = platform::home_folder(); home.ok()) {
    facts.home_folder = with_slashes(platform::path_to_utf8(*home), facts.system);
  }
  return facts;
}

SearchCandidate found_by_itself(const std::string& file, const std::string& source, const FileSystem& files) {
  const std::string why = files.why_not_trusted(file);
  if (why.empty()) return {file, source, {}};
  return {file, source, fmt::format("skipped, because it was found and not named, and {}", why), true};
}

SearchList search_list(const VendorLibrary& wanted, const SearchFacts& facts, const FileSystem& files) {
  return ListMaker(wanted, facts, files).make();
}

}  // namespace latebind::core
