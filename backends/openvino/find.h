// Where OpenVINO's C library may be: the search list, as data.
//
// Nothing is opened here. What the list depends on comes in as SearchFacts and a FileSystem, so that every rule, those
// for Windows included, is tested on any machine without a file. Paths are UTF-8 with '/' between the parts.
//
// The rules, in order:
//   1. A path that the user has set: BackendOptions::library_path, then LATEBIND_OPENVINO_LIBRARY, then
//      OPENVINO_LIB_PATH (known to users of ExecuTorch). Each may name the file or a folder. The first of them that is
//      set is the whole list: who names a library wants that one, and a failure there must not be papered over by
//      another copy.
//   2. runtime/ beside the program's folder, or one level above: what is shipped with the program, as a folder with the
//      library or as a Python environment.
//   3. The Python package, when Latebind itself lies in a Python package folder; then the active Python environment.
//   4. INTEL_OPENVINO_DIR, the loader's own variable (LD_LIBRARY_PATH, PATH), the user's Python packages.
//   5. The system's places, Intel's installer first.
// The current folder is never searched. In a privileged process all variables and the user's own folders are left out.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace latebind::openvino {

inline constexpr const char* kLibraryVariable = "LATEBIND_OPENVINO_LIBRARY";
inline constexpr const char* kExecutorchVariable = "OPENVINO_LIB_PATH";

enum class System { kLinux, kWindows };

struct SearchFacts {
  System system = System::kLinux;
  std::string architecture;   // "x86_64" or "aarch64"
  bool privileged = false;    // the process has rights that its caller has not
  std::string explicit_path;  // from the configuration; empty when not set
  // Variables; nothing when unset or empty.
  std::optional<std::string> library_variable;
  std::optional<std::string> executorch_variable;
  std::optional<std::string> intel_openvino_dir;
  std::optional<std::string> virtual_env;
  std::optional<std::string> conda_prefix;
  std::optional<std::string> loader_path;
  // Folders; empty when unknown.
  std::string module_folder;  // of the program, or of the library that holds this code
  std::string home_folder;

  // Of this process, now.
  static SearchFacts gather(std::string explicit_path);
};

class FileSystem {
 public:
  enum class Kind { kNothing, kFile, kFolder };

  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  virtual ~FileSystem() = default;
  [[nodiscard]] virtual Kind kind_of(const std::string& path) const = 0;
  // Names in a folder, in any order; empty when it can not be read.
  [[nodiscard]] virtual std::vector<std::string> names_in(const std::string& folder) const = 0;

  static const FileSystem& real();
};

// One step of the search: a file to open, or a place where there is none and why.
struct Candidate {
  std::string place;
  std::string source;   // the rule that led there
  std::string why_not;  // empty for a file to open
};

struct SearchList {
  std::vector<Candidate> candidates;
  // The variable or setting that names the library, when the user has: then it is all there is. Empty: a search.
  std::string chosen_by;
};

[[nodiscard]] SearchList search_list(const SearchFacts& facts, const FileSystem& files);

// True when the first name has the newer version: parts of digits compare as numbers, "2641" after "2541", "3.11" after
// "3.9".
[[nodiscard]] bool newer_name(const std::string& a, const std::string& b);

// "libopenvino_c.so" or "openvino_c.dll".
[[nodiscard]] std::string library_name(System system);

}  // namespace latebind::openvino
