#include "core/vendor/child_trial.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

#include "core/json/parse.h"
#include "core/json/read.h"
#include "core/platform/child_process.h"
#include "core/platform/dynamic_library.h"
#include "core/platform/environment.h"
#include "core/platform/files/folder_trust.h"
#include "core/platform/files/folders.h"
#include "core/vendor/library_names.h"

namespace latebind::core {
namespace {

constexpr std::string_view kMark = "latebind-child-says: ";
constexpr std::size_t kSaidBytesMax = std::size_t{16} << 10;

bool is_file(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

}  // namespace

Result<std::filesystem::path> trial_program(const TrialOptions& options) {
  const std::string name = own_system() == System::kWindows ? "latebind.exe" : "latebind";
  std::string chosen = options.program;
  if (chosen.empty()) chosen = platform::trusted_environment(kTrialVariable).value_or("");
  if (!chosen.empty()) {
    auto path = platform::path_from_utf8(chosen);
    if (path.is_absolute() && is_file(path)) return path;
    return Status(
        StatusCode::kNotFound,
        fmt::format("{}, which is set as the program that tries libraries in its own process, is not the full "
                    "path of a program: correct or clear the setting",
                    chosen));
  }
  const auto own = platform::own_program_file();
  if (own.ok() && platform::path_to_utf8(own->filename()) == name) return *own;
  const auto module = platform::own_module_file();
  return trial_program_near(module.ok() ? module->parent_path() : std::filesystem::path(), name);
}

Result<std::filesystem::path> trial_program_near(const std::filesystem::path& folder, const std::string& name) {
  for (const auto& candidate : {folder / name, folder.parent_path() / "bin" / name}) {
    if (folder.empty() || !is_file(candidate)) continue;
    const auto trusted = platform::check_folder_trust(candidate);
    if (trusted.ok()) return candidate;
    return Status(StatusCode::kPermissionDenied,
                  fmt::format("{}, the program that tries libraries in its own process, is not used, because it was "
                              "found and not named, and {}: set {} to its full path",
                              platform::path_to_utf8(candidate), trusted.message(), kTrialVariable));
  }
  return Status(
      StatusCode::kNotFound,
      fmt::format("libraries of others are first tried in their own process, but the program for that, {}, is "
                  "neither beside this library nor in ../bin: set {} to its full path",
                  name, kTrialVariable));
}

std::string line_for_parent(const Status& status, const Json& report) {
  Json line{{"code", static_cast<std::int32_t>(status.code())}};
  if (!status.ok()) {
    line["message"] = std::string(status.message().substr(0, kSaidBytesMax));
    line["vendor_text"] = std::string(status.vendor_text().substr(0, kSaidBytesMax));
    if (status.vendor_code()) line["vendor_code"] = *status.vendor_code();
  }
  if (!report.is_null()) line["report"] = report;
  return fmt::format("{}{}", kMark, line.dump());
}

Status status_from_child(std::string_view output, Json* report) {
  const auto silent = [] { return Status(StatusCode::kInternal, "the child process ended without an answer"); };
  const auto at = output.rfind(kMark);
  if (at == std::string_view::npos || (at != 0 && output[at - 1] != '\n')) return silent();
  std::string_view text = output.substr(at + kMark.size());
  text = text.substr(0, text.find('\n'));
  const Json line = json_or_null(text);
  if (!line.is_object()) return silent();
  const auto* const code = find_member(line, "code");
  if (code == nullptr || !code->is_number_integer()) return silent();
  if (report != nullptr) *report = line["report"];
  if (code->get<std::int32_t>() == 0) return {};
  const auto field = [&](const char* key) {
    const auto* const found = find_member(line, key);
    return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto status_code = static_cast<StatusCode>(code->get<std::int32_t>());
  const auto* const vendor_code = find_member(line, "vendor_code");
  if (vendor_code == nullptr || !vendor_code->is_number_integer()) return Status(status_code, field("message"));
  return Status::from_vendor(status_code, field("message"), vendor_code->get<std::int64_t>(), field("vendor_text"));
}

}  // namespace latebind::core
