#include "backends/onnxruntime/provider_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "backends/onnxruntime/environment.h"
#include "backends/onnxruntime/register_provider.h"
#include "core/json/read.h"
#include "core/json/value.h"
#include "core/log.h"
#include "core/platform/child_process.h"
#include "core/platform/digest.h"
#include "core/platform/dynamic_library.h"
#include "core/platform/environment.h"
#include "core/platform/files/file_identity.h"
#include "core/platform/files/folder_trust.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/output_file.h"
#include "core/vendor/vendor_search.h"

namespace latebind::onnxruntime {
namespace {

using core::Json;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr const char* kMemoryFile = "providers.json";
constexpr int kMemoryFormat = 2;
constexpr std::size_t kMemoryBytesMax = std::size_t{256} << 10;
constexpr std::size_t kEntriesMax = 64;
constexpr std::string_view kMark = "latebind-child-says: ";
constexpr std::size_t kSaidBytesMax = std::size_t{16} << 10;

std::string text_of(const platform::FileIdentity& identity) {
  return fmt::format("{} {} {}", identity.size, identity.modified_ns, identity.changed_ns);
}

// Identifies a trial by everything whose change requires another one.
Result<std::string> key_of(const std::string& runtime_file, const std::string& runtime_version,
                           const std::string& provider_file) {
  LB_ASSIGN_OR_RETURN(const auto provider, platform::file_identity(platform::path_from_utf8(provider_file)));
  LB_ASSIGN_OR_RETURN(const auto runtime, platform::file_identity(platform::path_from_utf8(runtime_file)));
  const std::string all = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", provider_file, text_of(provider), runtime_file,
                                      text_of(runtime), runtime_version, LATEBIND_VERSION);
  return platform::sha256_hex(std::as_bytes(std::span(all)));
}

// The stored trials: the number of the format, and an object of key → {provider, reason}, where an empty reason is a
// success. Files without the number are from versions that also stored time limits. An entry lets a provider into this
// process, so the file is read and written only if no other user could have changed it.
class Memory {
 public:
  explicit Memory(std::filesystem::path file) : file_(std::move(file)) {}

  [[nodiscard]] std::optional<std::string> reason(const std::string& key) const {
    const Json entries = read();
    const auto* const found = core::find_member(entries, key);
    if (found == nullptr || !found->is_object()) return std::nullopt;
    const auto* const reason = core::find_member(*found, "reason");
    if (reason == nullptr || !reason->is_string()) return std::nullopt;
    return reason->get<std::string>();
  }

  void remember(const std::string& key, const std::string& provider, const std::string& reason) const {
    Json entries = read();
    // Any entries can be dropped if there are too many, since each costs only another trial.
    while (entries.size() >= kEntriesMax)
      entries.erase(entries.members().front().first);
    entries[key] = {{"provider", provider}, {"reason", reason}};
    if (const auto status = write(entries); !status.ok()) {
      core::log(core::LogLevel::kDebug,
                fmt::format("the result of trying {} is not kept: {}", provider, status.brief()));
    }
  }

 private:
  // The trials; an empty object if Latebind did not write the file.
  [[nodiscard]] Json read() const {
    if (!platform::check_folder_trust(file_).ok()) return Json::object();
    const auto mapped = platform::MappedFile::open(file_);
    if (!mapped.ok() || mapped->bytes().size() > kMemoryBytesMax) return Json::object();
    const auto bytes = mapped->bytes();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const Json memory = core::json_or_null(text);
    if (!memory.is_object() || memory.value("format", Json()) != kMemoryFormat) return Json::object();
    Json trials = memory.value("trials", Json());
    return trials.is_object() ? trials : Json::object();
  }
  [[nodiscard]] Status write(const Json& entries) const {
    // Checked before anything is created in another user's folder, and again for what exists afterwards.
    LB_RETURN_IF_ERROR(platform::check_folder_trust(file_.parent_path()));
    LB_RETURN_IF_ERROR(platform::make_private_folder(file_.parent_path()));
    LB_RETURN_IF_ERROR(platform::check_folder_trust(file_));
    LB_ASSIGN_OR_RETURN(auto output, platform::OutputFile::create(file_));
    const Json memory{{"format", kMemoryFormat}, {"trials", entries}};
    LB_RETURN_IF_ERROR(output.write(memory.dump(1) + "\n"));
    return output.commit_unsynced();
  }

  const std::filesystem::path file_;
};

Result<std::filesystem::path> memory_file(const TrialOptions& options) {
  if (!options.folder.empty()) return options.folder / kMemoryFile;
  LB_ASSIGN_OR_RETURN(const auto folder, platform::cache_folder());
  return folder / kMemoryFile;
}

bool is_file(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

Status refusal(const std::string& provider_file, const std::string& reason, const std::filesystem::path& memory) {
  return Status(
      StatusCode::kDeviceFailed,
      fmt::format(
          "{} {} when it was tried in its own process; this result is kept for this version (remove {} to try again)",
          provider_file, reason, platform::path_to_utf8(memory)));
}

}  // namespace

Result<std::filesystem::path> trial_program(const TrialOptions& options) {
  const bool windows = core::own_system() == core::System::kWindows;
  const std::string name = windows ? "latebind.exe" : "latebind";
  std::string chosen = options.program;
  if (chosen.empty()) chosen = platform::trusted_environment(kTrialVariable).value_or("");
  if (!chosen.empty()) {
    auto path = platform::path_from_utf8(chosen);
    if (path.is_absolute() && is_file(path)) return path;
    return Status(StatusCode::kNotFound, fmt::format("{}, which is set as the program to try providers with, is not "
                                                     "the full path of a program: correct or clear the setting",
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
                  fmt::format("{}, the program to try providers with, is not used, because it was found and not named, "
                              "and {}: set {} to its full path",
                              platform::path_to_utf8(candidate), trusted.message(), kTrialVariable));
  }
  return Status(StatusCode::kNotFound,
                fmt::format("plugin providers are first tried in their own process, but the program for that, {}, is "
                            "neither beside this library nor in ../bin: set {} to its full path",
                            name, kTrialVariable));
}

std::string line_for_parent(const Status& status) {
  Json line{{"code", static_cast<std::int32_t>(status.code())}};
  if (!status.ok()) {
    line["message"] = std::string(status.message().substr(0, kSaidBytesMax));
    line["vendor_text"] = std::string(status.vendor_text().substr(0, kSaidBytesMax));
    if (status.vendor_code()) line["vendor_code"] = *status.vendor_code();
  }
  return fmt::format("{}{}", kMark, line.dump());
}

Status status_from_child(std::string_view output) {
  const auto silent = [] { return Status(StatusCode::kInternal, "the child process ended without an answer"); };
  const auto at = output.rfind(kMark);
  if (at == std::string_view::npos || (at != 0 && output[at - 1] != '\n')) return silent();
  std::string_view text = output.substr(at + kMark.size());
  text = text.substr(0, text.find('\n'));
  const Json line = core::json_or_null(text);
  if (!line.is_object()) return silent();
  const auto* const code = core::find_member(line, "code");
  if (code == nullptr || !code->is_number_integer()) return silent();
  if (code->get<std::int32_t>() == 0) return {};
  const auto field = [&](const char* key) {
    const auto* const found = core::find_member(line, key);
    return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto status_code = static_cast<StatusCode>(code->get<std::int32_t>());
  const auto* const vendor_code = core::find_member(line, "vendor_code");
  if (vendor_code == nullptr || !vendor_code->is_number_integer()) return Status(status_code, field("message"));
  return Status::from_vendor(status_code, field("message"), vendor_code->get<std::int64_t>(), field("vendor_text"));
}

Status try_provider(const TrialOptions& options, const std::string& runtime_file, const std::string& runtime_version,
                    const std::string& provider_file) {
  LB_ASSIGN_OR_RETURN(const std::string key, key_of(runtime_file, runtime_version, provider_file));
  const auto file = memory_file(options);
  if (file.ok()) {
    if (const auto reason = Memory(*file).reason(key)) {
      return reason->empty() ? Status() : refusal(provider_file, *reason, *file);
    }
  }
  LB_ASSIGN_OR_RETURN(const auto program, trial_program(options));
  core::log(core::LogLevel::kDebug, fmt::format("trying {} in its own process", provider_file));
  auto outcome = platform::run_child(program, {kTrialCommand, runtime_file, provider_file},
                                     platform::ChildLimits{.time = options.time});
  if (!outcome.ok()) return outcome.status().with_context(fmt::format("{} was not tried", provider_file));
  const auto remember = [&](const std::string& reason) {
    if (file.ok()) Memory(*file).remember(key, provider_file, reason);
  };
  using End = platform::ChildOutcome::End;
  if (outcome->end == End::kSignal || outcome->end == End::kTimedOut) {
    const std::string reason = platform::describe(*outcome);
    // A child that is killed, or is slow on a busy machine, does not show that the provider is faulty.
    if (platform::ended_by_own_fault(*outcome) && file.ok()) {
      remember(reason);
      return refusal(provider_file, reason, *file);
    }
    return Status(StatusCode::kDeviceFailed,
                  fmt::format("{} {} when it was tried in its own process", provider_file, reason));
  }
  Status status = status_from_child(outcome->output);
  // The child's message is the last thing that it writes.
  if (status.ok() && (outcome->good() || outcome->end == End::kUnknown)) {
    remember({});
    return {};
  }
  if (!status.ok() && status.code() != StatusCode::kInternal) return status;
  return Status(StatusCode::kDeviceFailed,
                fmt::format("{} could not be tried: {} {}{}{}", provider_file, platform::path_to_utf8(program),
                            platform::describe(*outcome), outcome->errors.empty() ? "" : ": ",
                            std::string_view(outcome->errors).substr(0, outcome->errors.find('\n'))));
}

std::string run_trial(const std::string& runtime_file, const std::string& provider_file) {
  const auto trial = [&]() -> Status {
    LB_ASSIGN_OR_RETURN(auto library, open_library(runtime_file));
    LB_ASSIGN_OR_RETURN(const auto environment, Environment::create(std::move(library)));
    return register_provider(*environment, provider_file).status();
  };
  return line_for_parent(trial());
}

}  // namespace latebind::onnxruntime
