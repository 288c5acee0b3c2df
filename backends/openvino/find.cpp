#include "backends/openvino/find.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "core/platform/dynamic_library.h"
#include "core/platform/environment.h"
#include "core/platform/folders.h"

namespace latebind::openvino {
namespace {

using Kind = FileSystem::Kind;

// More matches of one pattern than any machine has on purpose.
constexpr std::size_t kMatchesMax = 64;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "*" matches the rest of a name, and stands at the end only.
bool matches(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('*')) return name == pattern;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

// The folders that a pattern means, newest first. Its first part is a folder as it is; later ones may end in "*".
std::vector<std::string> expand(const std::string& base, std::string_view pattern, const FileSystem& files) {
  std::vector<std::string> folders{base};
  while (!pattern.empty()) {
    const auto slash = pattern.find('/');
    const std::string_view part = pattern.substr(0, slash);
    pattern.remove_prefix(slash == std::string_view::npos ? pattern.size() : slash + 1);
    std::vector<std::string> next;
    for (const std::string& folder : folders) {
      if (!part.ends_with('*')) {
        next.push_back(folder + "/" + std::string(part));
        continue;
      }
      auto names = files.names_in(folder);
      std::erase_if(names, [&](const std::string& name) { return !matches(name, part); });
      std::ranges::sort(names, newer_name);
      for (const std::string& name : names)
        next.push_back(folder + "/" + name);
    }
    if (next.size() > kMatchesMax) next.resize(kMatchesMax);
    folders = std::move(next);
  }
  std::erase_if(folders, [&](const std::string& folder) { return files.kind_of(folder) != Kind::kFolder; });
  return folders;
}

// The plain name, or it with a version behind: Python packages ship nothing but "libopenvino_c.so.2641".
bool is_library_name(std::string_view name, System system) {
  const std::string plain = library_name(system);
  if (system == System::kWindows) {
    return std::ranges::equal(name, plain, [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
  }
  if (!name.starts_with(plain)) return false;
  name.remove_prefix(plain.size());
  if (name.empty()) return true;
  return name.size() > 1 && name[0] == '.' && is_digit(name[1]) &&
         std::ranges::all_of(name, [](char c) { return is_digit(c) || c == '.'; });
}

// Plain name first: where it exists, somebody has decided which version it means. Then the newest.
std::vector<std::string> libraries_in(const std::string& folder, System system, const FileSystem& files) {
  auto names = files.names_in(folder);
  std::erase_if(names, [&](const std::string& name) { return !is_library_name(name, system); });
  const std::string plain = library_name(system);
  std::ranges::sort(names, [&](const std::string& a, const std::string& b) {
    if ((a == plain) != (b == plain)) return a == plain;
    return newer_name(a, b);
  });
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    if (files.kind_of(path) == Kind::kFile) paths.push_back(path);
  }
  return paths;
}

// Where the library lies below a folder that somebody calls "OpenVINO", "runtime" or a Python environment.
std::vector<std::string_view> layouts(const SearchFacts& facts) {
  if (facts.system == System::kWindows) {
    return {"",
            "libs",
            "openvino/libs",
            "Lib/site-packages/openvino/libs",
            "venv/Lib/site-packages/openvino/libs",
            "bin/intel64/Release",
            "runtime/bin/intel64/Release"};
  }
  const bool arm = facts.architecture == "aarch64";
  return {"",
          "lib",
          "libs",
          "openvino/libs",
          "lib/python3*/site-packages/openvino/libs",
          "venv/lib/python3*/site-packages/openvino/libs",
          arm ? "lib/aarch64" : "lib/intel64",
          arm ? "runtime/lib/aarch64" : "runtime/lib/intel64"};
}

std::string parent(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string::npos || slash == 0 ? std::string() : path.substr(0, slash);
}

bool is_absolute(const std::string& path, System system) {
  if (system == System::kLinux) return path.starts_with('/');
  return path.size() > 2 && path[1] == ':' && (path[2] == '/' || path[2] == '\\');
}

class List {
 public:
  List(const SearchFacts& facts, const FileSystem& files) : facts_(facts), files_(files) {}

  // Libraries in the folders that a pattern means; one step that says so when there are none.
  void add(const std::string& base, std::string_view pattern, const std::string& source) {
    const auto folders = expand(base, pattern, files_);
    if (folders.empty()) {
      add_miss(pattern.empty() ? base : base + "/" + std::string(pattern), source, "no such folder");
    }
    for (const std::string& folder : folders) {
      const auto libraries = libraries_in(folder, facts_.system, files_);
      if (libraries.empty()) add_miss(folder, source, fmt::format("no {} in it", library_name(facts_.system)));
      for (const std::string& library : libraries)
        add_file(library, source);
    }
  }

  // As above for every layout; a single step when none has the library.
  void add_layouts(const std::string& base, const std::string& source) {
    if (files_.kind_of(base) != Kind::kFolder) return add_miss(base, source, "no such folder");
    bool found = false;
    for (const std::string_view layout : layouts(facts_)) {
      for (const std::string& folder : expand(base, layout, files_)) {
        for (const std::string& library : libraries_in(folder, facts_.system, files_)) {
          add_file(library, source);
          found = true;
        }
      }
    }
    if (!found) {
      add_miss(base, source,
               fmt::format("no {} in it or in the folders below where it is installed", library_name(facts_.system)));
    }
  }

  // What the user has named: a file or a folder.
  void add_chosen(const std::string& path, const std::string& source) {
    if (!is_absolute(path, facts_.system)) {
      return add_miss(path, source, "a relative path, and the current folder is never searched: give the full path");
    }
    switch (files_.kind_of(path)) {
      case Kind::kNothing:
        return add_miss(path, source, "does not exist");
      case Kind::kFolder:
        return add_layouts(path, source);
      case Kind::kFile:
        return add_file(path, source);
    }
  }

  void add_miss(const std::string& place, const std::string& source, const std::string& why) {
    if (!is_known(place)) list_.candidates.push_back({place, source, why});
  }

  SearchList list_;

 private:
  void add_file(const std::string& path, const std::string& source) {
    if (!is_known(path)) list_.candidates.push_back({path, source, {}});
  }
  [[nodiscard]] bool is_known(const std::string& place) const {
    return std::ranges::find(list_.candidates, place, &Candidate::place) != list_.candidates.end();
  }

  const SearchFacts& facts_;
  const FileSystem& files_;
};

void add_variable(List& list, const char* name, const std::optional<std::string>& value, const SearchFacts& facts) {
  if (!value) return list.add_miss(name, "environment", facts.privileged ? "not set, or not trusted here" : "not set");
  if (!is_absolute(*value, facts.system)) return list.add_miss(*value, name, "a relative path, which is not searched");
  list.add_layouts(*value, name);
}

// The loader's own variable: only folders with the library in them are worth a line.
void add_loader_path(List& list, const SearchFacts& facts, const FileSystem& files) {
  if (!facts.loader_path) return;
  const char separator = facts.system == System::kWindows ? ';' : ':';
  const std::string source = facts.system == System::kWindows ? "PATH" : "LD_LIBRARY_PATH";
  std::string_view rest = *facts.loader_path;
  while (!rest.empty()) {
    const auto end = rest.find(separator);
    const std::string folder(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    // An empty or relative entry means the current folder.
    if (!is_absolute(folder, facts.system)) continue;
    if (!libraries_in(folder, facts.system, files).empty()) list.add(folder, "", source);
  }
}

void add_system_places(List& list, const SearchFacts& facts) {
  const std::string source = "system";
  if (facts.system == System::kWindows) {
    list.add("C:/Program Files (x86)/Intel", "openvino*/runtime/bin/intel64/Release", source);
    list.add("C:/Program Files/Intel", "openvino*/runtime/bin/intel64/Release", source);
    return;
  }
  const bool arm = facts.architecture == "aarch64";
  list.add("/opt/intel", arm ? "openvino*/runtime/lib/aarch64" : "openvino*/runtime/lib/intel64", source);
  list.add("/usr/local/lib", "", source);
  list.add(arm ? "/usr/lib/aarch64-linux-gnu" : "/usr/lib/x86_64-linux-gnu", "", source);
  list.add("/usr/lib64", "", source);
  list.add("/usr/lib", "", source);
  list.add("/usr/local/lib", "python3*/dist-packages/openvino/libs", source);
  list.add("/usr/local/lib", "python3*/site-packages/openvino/libs", source);
  list.add("/usr/lib", "python3/dist-packages/openvino/libs", source);
  list.add("/usr/lib", "python3*/site-packages/openvino/libs", source);
}

class RealFileSystem final : public FileSystem {
 public:
  [[nodiscard]] Kind kind_of(const std::string& path) const override {
    std::error_code error;
    const auto status = std::filesystem::status(platform::path_from_utf8(path), error);
    if (error || !std::filesystem::exists(status)) return Kind::kNothing;
    return std::filesystem::is_directory(status) ? Kind::kFolder : Kind::kFile;
  }
  [[nodiscard]] std::vector<std::string> names_in(const std::string& folder) const override {
    std::vector<std::string> names;
    std::error_code error;
    std::filesystem::directory_iterator entry(platform::path_from_utf8(folder), error);
    for (const std::filesystem::directory_iterator end; !error && entry != end; entry.increment(error)) {
      names.push_back(platform::path_to_utf8(entry->path().filename()));
    }
    return names;
  }
};

std::string with_slashes(std::string path) {
#ifdef _WIN32
  std::ranges::replace(path, '\\', '/');
#endif
  return path;
}

}  // namespace

bool newer_name(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t j = 0;
  const auto skip_zeros = [](const std::string& text, std::size_t at) {
    while (at < text.size() && text[at] == '0')
      ++at;
    return at;
  };
  const auto number_end = [](const std::string& text, std::size_t at) {
    while (at < text.size() && is_digit(text[at]))
      ++at;
    return at;
  };
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::size_t a_start = skip_zeros(a, i);
      const std::size_t b_start = skip_zeros(b, j);
      i = number_end(a, i);
      j = number_end(b, j);
      const std::string_view a_digits(a.data() + a_start, i - a_start);
      const std::string_view b_digits(b.data() + b_start, j - b_start);
      if (a_digits.size() != b_digits.size()) return a_digits.size() > b_digits.size();
      if (a_digits != b_digits) return a_digits > b_digits;
    } else {
      if (a[i] != b[j]) return a[i] > b[j];
      ++i;
      ++j;
    }
  }
  return a.size() - i > b.size() - j;
}

std::string library_name(System system) {
  return system == System::kWindows ? "openvino_c.dll" : "libopenvino_c.so";
}

SearchFacts SearchFacts::gather(std::string explicit_path) {
  SearchFacts facts;
#ifdef _WIN32
  facts.system = System::kWindows;
  constexpr const char* kLoaderVariable = "PATH";
#else
  constexpr const char* kLoaderVariable = "LD_LIBRARY_PATH";
#endif
#if defined(__aarch64__) || defined(_M_ARM64)
  facts.architecture = "aarch64";
#else
  facts.architecture = "x86_64";
#endif
  facts.privileged = platform::is_privileged();
  facts.explicit_path = with_slashes(std::move(explicit_path));
  const auto variable = [](const char* name) {
    auto value = platform::trusted_environment(name);
    if (value) *value = with_slashes(*std::move(value));
    return value;
  };
  facts.library_variable = variable(kLibraryVariable);
  facts.executorch_variable = variable(kExecutorchVariable);
  facts.intel_openvino_dir = variable("INTEL_OPENVINO_DIR");
  facts.virtual_env = variable("VIRTUAL_ENV");
  facts.conda_prefix = variable("CONDA_PREFIX");
  facts.loader_path = variable(kLoaderVariable);
  if (const auto module = platform::own_module_file(); module.ok()) {
    facts.module_folder = with_slashes(platform::path_to_utf8(module->parent_path()));
  }
  if (const auto home = platform::home_folder(); home.ok()) {
    facts.home_folder = with_slashes(platform::path_to_utf8(*home));
  }
  return facts;
}

const FileSystem& FileSystem::real() {
  static const RealFileSystem instance;
  return instance;
}

SearchList search_list(const SearchFacts& facts, const FileSystem& files) {
  List list(facts, files);

  const std::string* chosen = nullptr;
  const auto consider = [&](const std::string& path, const char* by) {
    if (chosen != nullptr) return;
    chosen = &path;
    list.list_.chosen_by = by;
  };
  if (!facts.explicit_path.empty()) consider(facts.explicit_path, "the configured library path");
  if (facts.library_variable) consider(*facts.library_variable, kLibraryVariable);
  if (facts.executorch_variable) consider(*facts.executorch_variable, kExecutorchVariable);
  if (chosen != nullptr) {
    list.add_chosen(*chosen, list.list_.chosen_by);
    return std::move(list.list_);
  }
  const char* unset = facts.privileged ? "not set, or not trusted here" : "not set";
  list.add_miss(kLibraryVariable, "environment", unset);
  list.add_miss(kExecutorchVariable, "environment", unset);

  if (const std::string prefix = parent(facts.module_folder); !prefix.empty()) {
    list.add_layouts(prefix + "/runtime", "beside the program");
    if (const std::string above = parent(prefix); !above.empty()) {
      list.add_layouts(above + "/runtime", "beside the program");
    }
    // <site-packages>/latebind/… : the vendor's package lies in the same folder.
    for (const std::string& packages : {prefix, parent(prefix)}) {
      if (packages.ends_with("site-packages") || packages.ends_with("dist-packages")) {
        list.add(packages, "openvino/libs", "beside the Python package");
      }
    }
  }
  add_variable(list, "VIRTUAL_ENV", facts.virtual_env, facts);
  add_variable(list, "CONDA_PREFIX", facts.conda_prefix, facts);
  add_variable(list, "INTEL_OPENVINO_DIR", facts.intel_openvino_dir, facts);
  add_loader_path(list, facts, files);
  if (!facts.privileged && !facts.home_folder.empty()) {
    if (facts.system == System::kWindows) {
      list.add(facts.home_folder, "AppData/Roaming/Python/Python3*/site-packages/openvino/libs", "user's packages");
    } else {
      list.add(facts.home_folder, ".local/lib/python3*/site-packages/openvino/libs", "user's packages");
    }
  }
  add_system_places(list, facts);
  return std::move(list.list_);
}

}  // namespace latebind::openvino
