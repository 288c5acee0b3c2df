// Where a vendor's library may be: the search list, as data.
//
// Nothing is opened here, and no vendor is named: a backend says what it looks for (VendorLibrary), and what the list
// depends on comes in as SearchFacts and a FileSystem, so that every rule, those for Windows included, is tested on any
// machine without a file. Paths are UTF-8 with '/' between the parts. core/vendor_loader.h opens what is found.
//
// The rules, in order:
//   1. A path that the user has set: in the configuration, else the first of the vendor's library variables that is
//      set. It may name the file or a folder. It is the whole list: a named library is the wanted one, and a failure
//      there must not be hidden by another copy.
//   2. runtime/ beside the program's folder: what is shipped with the program, as a folder with the library or with a
//      Python environment in venv/. Where the program lies in a build tree of Latebind, runtime/ beside that as well.
//   3. The Python packages that Latebind itself lies among, when it does; then the active Python environment.
//   4. The vendor's own variables that name an installation, the loader's variable (LD_LIBRARY_PATH, PATH), Latebind's
//      folder for runtimes below the user's home (pip_command() installs there), the user's Python packages.
//   5. The system's places, the vendor's installers first.
// The current folder is never searched. In a privileged process all variables and the user's own folders are left out.
//
// What a variable names was named by the user; that includes the active Python environment. All else the search finds
// by itself, and there a file is left out, with the reason, when anybody but root or this user could have put it there
// (core/platform/files/folder_trust.h).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace latebind::core {

enum class System { kLinux, kWindows };

// A folder, and a pattern below it: parts divided by '/', each of which may end in "*". Newer versions come first.
struct SearchPlace {
  std::string base;
  std::string pattern;
};

// What a backend looks for. Constant data.
struct VendorLibrary {
  std::string product;          // for people: "OpenVINO"
  std::string install_command;  // see pip_command()
  std::string stem;             // "openvino_c" for libopenvino_c.so and openvino_c.dll
  // Folder with the library in a Python package, below site-packages: "openvino/libs".
  std::string package_folder;
  // Variables that name the library or its folder, Latebind's own first.
  std::vector<std::string> library_variables;
  // Variables that name an installation of the vendor's.
  std::vector<std::string> installation_variables;
  // Where the library is below an installation, besides the usual folders: "runtime/lib/intel64".
  std::vector<std::string> layouts;
  // Where the vendor's installers put it; searched before the system's library folders.
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

  // Of this process, now.
  static SearchFacts gather(const VendorLibrary& wanted, std::string explicit_path);
};

// What to type to install a Python package with a vendor's library where it is found, whichever Python is used: into a
// folder of the user's own, since distributions do not let pip write to theirs.
[[nodiscard]] std::string pip_command(std::string_view package, System system);

// The system and the architecture this code was compiled for: for backends whose data depends on them.
[[nodiscard]] System own_system();
[[nodiscard]] std::string own_architecture();

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
  // Who else could have put the file there; empty: nobody.
  [[nodiscard]] virtual std::string why_not_trusted(const std::string& file) const = 0;

  static const FileSystem& real();
};

// One step of the search: a file to open, or a place where there is none and why.
struct SearchCandidate {
  std::string place;
  std::string source;     // the rule that led there
  std::string why_not;    // empty for a file to open
  bool left_out = false;  // there is a file, and why_not says why it is not trusted
};

// A file that the search found by itself: to be opened, or left out.
[[nodiscard]] SearchCandidate found_by_itself(const std::string& file, const std::string& source,
                                              const FileSystem& files);

struct SearchList {
  std::vector<SearchCandidate> candidates;
  // The variable or setting that names the library, when the user has: then it is all there is. Empty: a search.
  std::string chosen_by;
};

[[nodiscard]] SearchList search_list(const VendorLibrary& wanted, const SearchFacts& facts, const FileSystem& files);

// True when the first name has the newer version: parts of digits compare as numbers, "2641" after "2541", "1.31" after
// "1.9".
[[nodiscard]] bool newer_name(std::string_view a, std::string_view b);

// "/a/b" of "/a/b/c", "c" of it. Empty where there is no folder above.
[[nodiscard]] std::string parent_folder(const std::string& path);
[[nodiscard]] std::string_view last_part(std::string_view path);

// "libopenvino_c.so" or "openvino_c.dll".
[[nodiscard]] std::string library_name(std::string_view stem, System system);

}  // namespace latebind::core
