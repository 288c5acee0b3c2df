// The search list for a vendor's library: the places where it may be, as data.
//
// This code opens nothing and names no vendor. A backend says what it looks for (VendorLibrary). Everything else that
// the list depends on comes in as SearchFacts and a FileSystem, so every rule, those for Windows included, is tested on
// any machine without a file. Paths are UTF-8 with '/' between the parts. core/vendor/vendor_loader.h opens what is
// found. Functions may be called from any thread.
//
// The rules, in order:
//   1. A path that the user has set: in the configuration, or else in the first of the vendor's library variables that
//      is set. It may name the file or a folder. It is the whole list: the user wants that library, and another copy
//      must not hide its failure.
//   2. runtime/ beside the program's folder: what is shipped with the program, as a folder with the library or with a
//      Python environment in venv/. If the program is in a build tree of Latebind, runtime/ beside that tree as well.
//   3. The Python packages beside Latebind, if Latebind is installed as one; then the active Python environment.
//   4. The vendor's own variables that name an installation, the loader's variable (LD_LIBRARY_PATH, PATH), Latebind's
//      folder for runtimes below the user's home (pip_command() installs there), the user's Python packages.
//   5. The system's places, those of the vendor's installers first.
// The current folder is never searched. In a privileged process all variables and the user's own folders are left out.
//
// The user named what a variable names, and that includes the active Python environment. Everything else is found by
// the search itself. A file found that way is left out, with the reason, if anybody but root or this user could have
// put it there (core/platform/files/folder_trust.h).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/vendor/library_names.h"

namespace latebind::core {

// A folder, and a pattern below it: parts separated by '/', each of which may end in "*". Newer versions come first.
struct SearchPlace {
  std::string base;
  std::string pattern;
};

// What a backend looks for. Constant data.
struct VendorLibrary {
  std::string product;          // for people: "OpenVINO"
  std::string install_command;  // see pip_command()
  std::string stem;             // "openvino_c" for libopenvino_c.so and openvino_c.dll
  // The folder with the library in a Python package, below site-packages: "openvino/libs".
  std::string package_folder;
  // Variables that name the library or its folder, Latebind's own first.
  std::vector<std::string> library_variables;
  // Variables that name an installation of the vendor.
  std::vector<std::string> installation_variables;
  // Folders below an installation that may have the library, besides the usual ones: "runtime/lib/intel64".
  std::vector<std::string> layouts;
  // Where the vendor's installers put the library; searched before the system's library folders.
  std::vector<SearchPlace> system_places;
};

// What the list depends on, besides the files.
struct SearchFacts {
  System system = System::kLinux;
  std::string architecture = "x86_64";           // or "aarch64"
  bool privileged = false;                       // the process has rights that its caller does not have
  std::string explicit_path;                     // from the configuration; empty when not set
  std::map<std::string, std::string> variables;  // those that are set, not empty and may be trusted
  std::string module_folder;                     // of the program, or of the library that holds this code
  std::string home_folder;                       // empty when unknown

  // Gathers the facts of this process as they are now.
  static SearchFacts gather(const VendorLibrary& wanted, std::string explicit_path);
};

// Returns the command that installs a Python package with a vendor's library, whichever Python runs it. It installs
// into a folder of the user that the search covers, because distributions do not let pip write to theirs.
[[nodiscard]] std::string pip_command(std::string_view package, System system);

// What the search asks the file system. Implementations may be used from any thread.
class FileSystem {
 public:
  enum class Kind { kNothing, kFile, kFolder };

  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  virtual ~FileSystem() = default;
  [[nodiscard]] virtual Kind kind_of(const std::string& path) const = 0;
  // Names in a folder, in any order; empty when it cannot be read.
  [[nodiscard]] virtual std::vector<std::string> names_in(const std::string& folder) const = 0;
  // The text of a file; empty when it cannot be read or is too long.
  [[nodiscard]] virtual std::string text_of(const std::string& file) const = 0;
  // Whether two names refer to the same folder.
  [[nodiscard]] virtual bool is_same(const std::string& one, const std::string& other) const = 0;
  // Why the file is not trusted: who else could have put it there. Empty when it is trusted.
  [[nodiscard]] virtual std::string why_not_trusted(const std::string& file) const = 0;

  // Returns the file system of this machine.
  static const FileSystem& real();
};

// Returns what matches a pattern below a folder and is of this kind, the newest version first. Parts of the pattern are
// separated by '/', and each may end in "*".
[[nodiscard]] std::vector<std::string> expand_pattern(const std::string& base, std::string_view pattern,
                                                      const FileSystem& files, FileSystem::Kind kind);

// Variables of the active Python environment.
inline constexpr const char* kPythonVariables[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
// Returns the folder of Python packages that Latebind is installed in; empty if it is not installed as a package.
[[nodiscard]] std::string python_packages_of(const SearchFacts& facts);

// One step of the search: a file to open, or a place that has no usable file, and why.
struct SearchCandidate {
  std::string place;
  std::string source;     // the rule that led there
  std::string why_not;    // empty for a file to open
  bool left_out = false;  // there is a file, and why_not says why it is not trusted
};

// Makes the candidate for a file that the search found by itself: to be opened, or left out.
[[nodiscard]] SearchCandidate found_by_itself(const std::string& file, const std::string& source,
                                              const FileSystem& files);

struct SearchList {
  std::vector<SearchCandidate> candidates;
  // The variable or setting by which the user named the library; the list then has nothing else. Empty for a search.
  std::string chosen_by;
};

// Makes the list by the rules above.
[[nodiscard]] SearchList search_list(const VendorLibrary& wanted, const SearchFacts& facts, const FileSystem& files);

}  // namespace latebind::core
