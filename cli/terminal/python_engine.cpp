#include "cli/terminal/python_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "cli/data/file_kinds.h"
#include "core/platform/child_process.h"
#include "core/platform/environment.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "core/result.h"

namespace latebind::cli {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using std::filesystem::path;

#ifdef _WIN32
constexpr char kListSeparator = ';';
constexpr std::array kNames{"python.exe"};
constexpr const char* kVirtual = "Scripts";
#else
constexpr char kListSeparator = ':';
constexpr std::array kNames{"python3", "python"};
constexpr const char* kVirtual = "bin";
#endif
// Generous, because pyarrow is large and disks may be slow.
constexpr std::chrono::minutes kTrialTime{2};

// Interpreters that may have the package, the most likely first. Never from the current folder.
std::vector<path> interpreters() {
  std::vector<path> found;
  const auto add = [&found](const path& folder) {
    for (const char* const name : kNames) {
      const path file = folder / name;
      std::error_code ignored;
      if (folder.is_absolute() && std::filesystem::is_regular_file(file, ignored)) return found.push_back(file);
    }
  };
  if (const auto environment = platform::trusted_environment("VIRTUAL_ENV")) {
    add(platform::path_from_utf8(*environment) / kVirtual);
  }
  const std::string list = platform::trusted_environment("PATH").value_or("");
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(kListSeparator, begin), list.size());
    add(platform::path_from_utf8(list.substr(begin, end - begin)));
    begin = end + 1;
  }
  return found;
}

// Whether an interpreter has the package and can use it.
struct Trial {
  bool has_package = false;  // of this version
  std::string why{};         // the reason why it cannot be used; empty: it can
};

Trial try_interpreter(const path& python) {
  constexpr const char* kCode =
      "import latebind\n"
      "print(latebind.__version__, flush=True)\n"
      "import latebind.bulk\n"
      "try: latebind.bulk.embed_files\n"
      "except latebind.LibraryError as error: raise SystemExit(str(error))";
  platform::ChildLimits limits;
  limits.time = kTrialTime;
  const auto outcome = platform::run_child(python, {"-c", kCode}, limits);
  if (!outcome.ok()) return {.why = std::string(outcome.status().message())};
  const std::string_view output = outcome->output;
  const std::string_view version = output.substr(0, output.find_first_of("\r\n"));
  if (!version.empty() && version != LATEBIND_VERSION)
    return {.why = fmt::format("{} has latebind {}", platform::quoted(python), version)};
  Trial trial{.has_package = !version.empty()};
  if (trial.has_package && outcome->good()) return trial;
  std::string_view why = outcome->errors;
  while (why.ends_with('\n') || why.ends_with('\r'))
    why.remove_suffix(1);
  trial.why = fmt::format("{}: {}", platform::quoted(python), why.substr(why.rfind('\n') + 1));
  return trial;
}

Result<path> find_interpreter() {
  std::string reasons;
  std::string almost;  // what is missing where the package is
  const auto try_one = [&](const path& python) {
    const Trial trial = try_interpreter(python);
    if (trial.why.empty()) return true;
    if (trial.has_package && almost.empty()) almost = trial.why;
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", trial.why);
    return false;
  };
  if (const auto given = platform::trusted_environment("LATEBIND_PYTHON")) {
    if (try_one(platform::path_from_utf8(*given))) return platform::path_from_utf8(*given);
  } else {
    for (const path& python : interpreters()) {
      if (try_one(python)) return python;
    }
  }
  constexpr std::string_view kWhat = "Parquet and Arrow are read and written by latebind's Python package";
  if (!almost.empty()) return Status(StatusCode::kLibraryNotFound, fmt::format("{}: {}", kWhat, almost));
  return Status(StatusCode::kLibraryNotFound,
                fmt::format("{}, but no Python has its version {}: install the wheel file of this release (pip install "
                            "latebind-{}-*.whl pyarrow), or set LATEBIND_PYTHON to the Python that has it{}",
                            kWhat, LATEBIND_VERSION, LATEBIND_VERSION, reasons.empty() ? "" : " (" + reasons + ")"));
}

}  // namespace

bool is_known_to_python(std::string_view name) {
  return is_binary_table(name) || is_comma_table(name) || is_json_lines(name) ||
         ends_in_any(unpacked_name(name), {".txt"});
}

Exit run_python_engine(const std::vector<std::string>& arguments) {
  // Prevents imports from the current folder.
  platform::set_environment_default("PYTHONSAFEPATH", "1");
  const auto python = find_interpreter();
  if (!python.ok()) return fail(python.status());
  std::vector<std::string> words{"-m", "latebind.bulk"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const auto code = platform::run_instead(*python, words);
  return code.ok() ? static_cast<Exit>(*code) : fail(code.status());
}

}  // namespace latebind::cli
