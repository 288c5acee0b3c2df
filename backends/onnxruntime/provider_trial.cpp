#include "backends/onnxruntime/provider_trial.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "backends/onnxruntime/environment.h"
#include "backends/onnxruntime/register_provider.h"
#include "core/log.h"
#include "core/platform/child_process.h"
#include "core/platform/digest.h"
#include "core/platform/files/file_identity.h"
#include "core/platform/files/folders.h"
#include "core/vendor/trial_memory.h"

namespace latebind::onnxruntime {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using core::TrialMemory;

constexpr const char* kMemoryFile = "providers.json";
constexpr int kMemoryFormat = 2;

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

// The stored trials: key → {provider, reason}, where an empty reason is a success. Files of another format are from
// versions that also stored time limits.
Result<TrialMemory> memory_of(const TrialOptions& options) {
  return TrialMemory::in(options.folder, kMemoryFile, kMemoryFormat);
}

Status refusal(const std::string& provider_file, const std::string& reason, const std::filesystem::path& memory) {
  return Status(
      StatusCode::kDeviceFailed,
      fmt::format(
          "{} {} when it was tried in its own process; this result is kept for this version (remove {} to try again)",
          provider_file, reason, platform::path_to_utf8(memory)));
}

}  // namespace

Status try_provider(const TrialOptions& options, const std::string& runtime_file, const std::string& runtime_version,
                    const std::string& provider_file) {
  LB_ASSIGN_OR_RETURN(const std::string key, key_of(runtime_file, runtime_version, provider_file));
  const auto memory = memory_of(options);
  if (memory.ok()) {
    const auto entry = memory->find(key);
    if (entry && (*entry)["reason"].is_string()) {
      const std::string& reason = (*entry)["reason"].text();
      return reason.empty() ? Status() : refusal(provider_file, reason, memory->file());
    }
  }
  LB_ASSIGN_OR_RETURN(const auto program, core::trial_program(options));
  core::log(core::LogLevel::kDebug, fmt::format("trying {} in its own process", provider_file));
  auto outcome = platform::run_child(program, {kTrialCommand, runtime_file, provider_file},
                                     platform::ChildLimits{.time = options.time});
  if (!outcome.ok()) return outcome.status().with_context(fmt::format("{} was not tried", provider_file));
  const auto remember = [&](const std::string& reason) {
    if (memory.ok()) memory->keep(key, {{"provider", provider_file}, {"reason", reason}}, provider_file);
  };
  using End = platform::ChildOutcome::End;
  if (outcome->end == End::kSignal || outcome->end == End::kTimedOut) {
    const std::string reason = platform::describe(*outcome);
    // A child that is killed, or is slow on a busy machine, does not show that the provider is faulty.
    if (platform::ended_by_own_fault(*outcome) && memory.ok()) {
      remember(reason);
      return refusal(provider_file, reason, memory->file());
    }
    return Status(StatusCode::kDeviceFailed,
                  fmt::format("{} {} when it was tried in its own process", provider_file, reason));
  }
  Status status = core::status_from_child(outcome->output);
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
  return core::line_for_parent(trial());
}

}  // namespace latebind::onnxruntime
