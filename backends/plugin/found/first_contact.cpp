#include "backends/plugin/found/first_contact.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "core/backend/device_check.h"
#include "core/json/parse.h"
#include "core/log.h"
#include "core/platform/child_process.h"
#include "core/platform/digest.h"
#include "core/platform/files/file_identity.h"
#include "core/platform/files/folders.h"
#include "core/text/one_line.h"
#include "core/vendor/trial_memory.h"

namespace latebind::plugin {
namespace {

using core::Json;
using core::Result;
using core::Status;
using core::StatusCode;
using core::TrialMemory;
using core::TrialOptions;

constexpr const char* kMemoryFile = "plugins.json";
constexpr int kMemoryFormat = 1;
// How long a failure is remembered.
constexpr std::int64_t kFailureSeconds = 3600;
constexpr std::int64_t kMinute = 60;
constexpr std::size_t kDevicesMax = 64;

std::int64_t now_seconds() {
  return static_cast<std::int64_t>(std::time(nullptr));
}

std::string text_of(const platform::FileIdentity& file) {
  return fmt::format("{} {} {} {} {}", file.size, file.modified_ns, file.changed_ns, file.file, file.device);
}

std::string key_of(const std::string& library, const PluginSettings& settings) {
  const std::string all = fmt::format("{}\n{}\n{}", library, to_text(settings), LATEBIND_VERSION);
  return platform::sha256_hex(std::as_bytes(std::span(all)));
}

Json to_json(const ContactReport& report) {
  Json json;
  json["name"] = report.name;
  json["version"] = report.version;
  if (!report.availability.ok()) {
    json["code"] = static_cast<std::int32_t>(report.availability.code());
    json["reason"] = std::string(report.availability.message());
  }
  json["devices"] = Json::array();
  for (const auto& [name, version] : report.devices)
    json["devices"].push_back(Json::array({name, version}));
  json["settings"] = Json::array();
  for (const SettingNote& one : report.settings)
    json["settings"].push_back(Json::array({one.key, one.value, one.help}));
  return json;
}

ContactReport report_from(const Json& json) {
  ContactReport report;
  report.name = json["name"].text();
  report.version = json["version"].text();
  if (const auto code = json["code"].whole<std::int32_t>(); code && *code != 0)
    report.availability = Status(static_cast<StatusCode>(*code), json["reason"].text());
  for (const Json& device : json["devices"]) {
    if (device.size() == 2) report.devices.emplace_back(device[0].text(), device[1].text());
  }
  for (const Json& setting : json["settings"]) {
    if (setting.size() == 3) report.settings.push_back({setting[0].text(), setting[1].text(), setting[2].text()});
  }
  return report;
}

// The error for a failure that is remembered.
Status refusal(StatusCode code, std::string_view reason, std::string_view when) {
  return {code, fmt::format("{} ({}it is tried again when the library changes, after an hour, or at once by `latebind "
                            "backends --retry`)",
                            reason, when)};
}

// One library's place in the memory.
class Contact {
 public:
  Contact(const TrialOptions& options, const std::string& library, std::string identity, const PluginSettings& settings)
      : memory_(TrialMemory::in(options.folder, kMemoryFile, kMemoryFormat)),
        library_(library),
        key_(key_of(library, settings)),
        identity_(std::move(identity)) {}

  // Returns what is remembered of the library as it is now.
  [[nodiscard]] std::optional<Result<ContactReport>> remembered() {
    auto entry = memory_.ok() ? memory_->find(key_) : std::nullopt;
    if (!entry) return std::nullopt;
    if ((*entry)["file"] != identity_) {
      if (digest().empty() || (*entry)["digest"] != digest()) return std::nullopt;
      (*entry)["file"] = identity_;
      memory_->keep(key_, *entry, library_);
    }
    const auto code = (*entry)["failed"].whole<std::int32_t>();
    if (!code || *code == 0) {
      ContactReport report = report_from((*entry)["report"]);
      report.digest = (*entry)["digest"].text();
      return report;
    }
    const std::int64_t age = now_seconds() - (*entry)["when"].get<std::int64_t>();
    if (age < 0 || age >= kFailureSeconds) return std::nullopt;
    return refusal(static_cast<StatusCode>(*code), (*entry)["reason"].text(),
                   fmt::format("{} minutes ago; ", age / kMinute));
  }

  void keep(Result<ContactReport>& outcome) {
    if (!memory_.ok() || digest().empty()) return;
    if (outcome.ok()) outcome->digest = digest();
    Json entry{{"library", library_}, {"file", identity_}, {"digest", digest()}, {"when", now_seconds()}};
    if (outcome.ok()) {
      ContactReport report = *outcome;
      // Devices that were seen before are still known when they come back.
      if (const auto before = memory_->find(key_); before && (*before)["digest"] == digest()) {
        for (auto& device : report_from((*before)["report"]).devices) {
          if (std::ranges::find(report.devices, device) == report.devices.end()) report.devices.push_back(device);
        }
        report.devices.resize(std::min(report.devices.size(), kDevicesMax));
      }
      entry["report"] = to_json(report);
    } else {
      entry["failed"] = static_cast<std::int32_t>(outcome.status().code());
      entry["reason"] = outcome.status().to_string();
      outcome = refusal(outcome.status().code(), outcome.status().to_string(), {});
    }
    memory_->keep(key_, std::move(entry), library_);
  }

 private:
  const std::string& digest() {
    if (digest_.empty()) {
      auto digest = platform::sha256_hex_of_file(platform::path_from_utf8(library_));
      if (digest.ok()) digest_ = *std::move(digest);
    }
    return digest_;
  }

  const Result<TrialMemory> memory_;
  const std::string library_;
  const std::string key_;
  const std::string identity_;
  std::string digest_;
};

struct Trial {
  Result<ContactReport> outcome;
  bool is_kept = true;  // the outcome says something about the plug-in
};

Status failed(const std::string& library, std::string_view how) {
  return {StatusCode::kDeviceFailed, fmt::format("{} {} when it was tried in its own process", library, how)};
}

// Whether the error says nothing about the plug-in: the system is short of something, or a setting is wrong.
bool is_passing(StatusCode code) {
  return code == StatusCode::kBusy || code == StatusCode::kOutOfMemory || code == StatusCode::kNotFound ||
         code == StatusCode::kPermissionDenied || code == StatusCode::kInvalidArgument;
}

Trial try_in_child(const TrialOptions& options, const std::string& library, const std::string& name,
                   const PluginSettings& settings) {
  const auto program = core::trial_program(options);
  if (!program.ok()) return {program.status(), false};
  core::log(core::LogLevel::kDebug, fmt::format("trying {} in its own process", library));
  const auto outcome = platform::run_child(*program, {kContactCommand, library, name, to_text(settings)},
                                           platform::ChildLimits{.time = options.time});
  if (!outcome.ok()) return {outcome.status().with_context(fmt::format("{} was not tried", library)), false};
  using End = platform::ChildOutcome::End;
  if (outcome->end == End::kTimedOut) return {failed(library, platform::describe(*outcome)), true};
  if (outcome->end == End::kSignal)
    return {failed(library, platform::describe(*outcome)), platform::ended_by_own_fault(*outcome)};
  Json report;
  Status status = core::status_from_child(outcome->output, &report);
  // The child's message is the last thing that it writes.
  if (status.ok() && (outcome->good() || outcome->end == End::kUnknown)) return {report_from(report), true};
  if (!status.ok() && status.code() != StatusCode::kInternal) return {status, !is_passing(status.code())};
  const std::string_view errors = outcome->errors;
  const std::string said = core::one_line(errors.substr(0, errors.find('\n')));
  return {failed(library,
                 fmt::format("{} without an answer{}{}", platform::describe(*outcome), said.empty() ? "" : ": ", said)),
          outcome->end != End::kUnknown};
}

// What the child does.
Status contact(const OpenPlugin& open, const std::string& library, const std::string& name,
               const PluginSettings& settings, ContactReport& report) {
  LB_ASSIGN_OR_RETURN(auto opened, open(library, {}, settings));
  const auto& backend = opened.backend;
  report.settings = std::move(opened.settings);
  report.name = backend->name();
  if (name != kAnyName && report.name != name) {
    return {StatusCode::kLibraryUnusable,
            fmt::format("{} is the plug-in '{}', and its manifest says '{}'", library, report.name, name)};
  }
  report.availability = backend->available();
  if (!report.availability.ok()) return {};
  LB_ASSIGN_OR_RETURN(report.version, backend->runtime_version());
  auto devices = backend->devices();
  report.availability = devices.status();
  if (!devices.ok()) return {};
  for (const core::Device& device : *devices) {
    if (device.is_virtual() || report.devices.size() >= kDevicesMax) continue;
    // An error is an answer, too; the placement gets the same one and says it.
    const core::DeviceCheck check = core::check_device(*backend, device);
    if (check.is_wrong) {
      return {StatusCode::kDeviceFailed,
              fmt::format("{} computes wrongly on {}: {}", library, device.id(), check.status.message())};
    }
    report.devices.emplace_back(device.name, device.runtime_version);
  }
  return {};
}

Result<PluginSettings> settings_from(const std::string& text) {
  const Json json = core::json_or_null(text);
  if (!json.is_object()) return Status(StatusCode::kInvalidArgument, "the settings must be a JSON object");
  PluginSettings settings;
  for (const auto& [key, value] : json.members())
    settings.emplace(key, value.text());
  return settings;
}

}  // namespace

bool ContactReport::covers(const std::vector<core::Device>& found) const {
  return availability.ok() && std::ranges::all_of(found, [&](const core::Device& device) {
           return device.is_virtual() ||
                  std::ranges::find(devices, std::pair(device.name, device.runtime_version)) != devices.end();
         });
}

Result<ContactReport> first_contact(const TrialOptions& options, const std::string& library, const std::string& name,
                                    const PluginSettings& settings, bool again) {
  LB_ASSIGN_OR_RETURN(const auto identity, platform::file_identity(platform::path_from_utf8(library)));
  Contact contact(options, library, text_of(identity), settings);
  if (!again) {
    if (auto known = contact.remembered()) return *std::move(known);
  }
  Trial trial = try_in_child(options, library, name, settings);
  if (trial.is_kept) contact.keep(trial.outcome);
  return std::move(trial.outcome);
}

std::string run_contact(const OpenPlugin& open, const std::string& library, const std::string& name,
                        const std::string& settings) {
  const auto read = settings_from(settings);
  if (!read.ok()) return core::line_for_parent(read.status());
  ContactReport report;
  const Status status = contact(open, library, name, *read, report);
  return core::line_for_parent(status, to_json(report));
}

std::string to_text(const PluginSettings& settings) {
  return Json(settings).dump();
}

}  // namespace latebind::plugin
