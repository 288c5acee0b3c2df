#include "cli/terminal/python_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "core/platform/child_process.h"
#include "core/platform/environment.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "core/result.h"
#include "core/text/ascii.h"

namespace latebind::cli {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using std::filesystem::path;

constexpr const char* kPackage = "pip install 'latebind[bulk]'";
#ifdef _WIN32
constexpr char kListSeparator = ';';
constexpr std::array kNames{"python.exe"};
constexpr const char* kVirtual = "Scripts";
#else
constexpr char kListSeparator = ':';
constexpr std::array kNames{"python3", "python"};
constexpr const char* kVirtual = "bin";
#endif
// pyarrow is large, and disks may be slow.
constexpr std::chrono::minutes kTrialTime{2};

bool ends_in_any(std::string_view name, std::initializer_list<std::string_view> endings) {
  const std::string lower = core::ascii_lowered(name);
  return std::ranges::any_of(endings, [&](std::string_view ending) { return lower.ends_with(ending); });
}

// Interpreters that may have the package, the likeliest first. Never in the current folder.
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

// Ok where it has the package, of this version.
Status try_interpreter(const path& python) {
  constexpr const char* kCode =
      "import latebind, latebind.bulk; latebind.bulk.embed_files; print(latebind.__version__)";
  platform::ChildLimits limits;
  limits.time = kTrialTime;
  LB_ASSIGN_OR_RETURN(const auto outcome, platform::run_child(python, {"-c", kCode}, limits));
  const std::string_view output = outcome.output;
  if (outcome.good() && output.substr(0, output.find_first_of("\r\n")) == LATEBIND_VERSION) return {};
  std::string_view why = outcome.good() ? output : std::string_view(outcome.errors);
  while (why.ends_with('\n') || why.ends_with('\r'))
    why.remove_suffix(1);
  why = why.substr(why.rfind('\n') + 1);
  return Status(StatusCode::kLibraryNotFound,
                fmt::format("{}: {}", platform::quoted(python),
                            outcome.good() ? fmt::format("it has latebind {}", why) : std::string(why)));
}

Result<path> find_interpreter() {
  std::string reasons;
  const auto try_one = [&reasons](const path& python) {
    const Status status = try_interpreter(python);
    if (!status.ok()) reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", status.message());
    return status.ok();
  };
  if (const auto given = platform::trusted_environment("LATEBIND_PYTHON")) {
    if (try_one(platform::path_from_utf8(*given))) return platform::path_from_utf8(*given);
  } else {
    for (const path& python : interpreters()) {
      if (try_one(python)) return python;
    }
  }
  return Status(
      StatusCode::kLibraryNotFound,
      fmt::format("the Python package latebind {}, which reads and writes Parquet and packed files, was not found: run {}, or set LATEBIND_PYTHON to the Python that has it{}",
                  LATEBIND_VERSION, kPackage, reasons.empty() ? "" : " (" + reasons + ")"));
}

}  // namespace

bool is_read_by_python(std::string_view name) {
  return ends_in_any(name, {".parquet", ".pq", ".arrow", ".feather", ".ipc", ".gz"});
}

bool is_known_to_python(std::string_view name) {
  if (ends_in_any(name, {".gz"})) name.remove_suffix(3);
  return ends_in_any(name, {".parquet", ".pq", ".arrow", ".feather", ".ipc", ".jsonl", ".ndjson", ".txt"});
}

Exit run_python_engine(const std::vector<std::string>& arguments) {
  // Nothing is imported from the folder that one happens to be in.
  platform::set_environment_default("PYTHONSAFEPATH", "1");
  const auto python = find_interpreter();
  if (!python.ok()) return fail(python.status());
  std::vector<std::string> words{"-m", "latebind.bulk"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const auto code = platform::run_instead(*python, words);
  return code.ok() ? static_cast<Exit>(*code) : fail(code.status());
}

}  // namespace latebind::cli
