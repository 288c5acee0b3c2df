#include "app/jobs/backends.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/backends.h"
#include "app/plugins.h"
#include "app/settings.h"
#include "core/config.h"
#include "core/platform/files/folder_trust.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/output_file.h"
#include "core/vendor/library_names.h"

namespace latebind::app {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using plugin::ContactReport;
using plugin::PluginEntry;

std::vector<std::string> ids_of(const std::string& backend, const ContactReport& report) {
  std::vector<std::string> ids;
  for (const auto& [name, version] : report.devices)
    ids.push_back(fmt::format("{}:{}", backend, name));
  return ids;
}

BackendListing::OfBackend built_in(core::Backend& backend) {
  BackendListing::OfBackend one{.name = std::string(backend.name()), .state = "ready", .is_built_in = true};
  const Status available = backend.available();
  if (!available.ok()) {
    one.state = "unavailable";
    one.reason = reason_of(available);
    return one;
  }
  if (const auto version = backend.runtime_version(); version.ok()) one.version = *version;
  if (const auto devices = backend.devices(); devices.ok()) {
    for (const core::Device& device : *devices)
      one.devices.push_back(device.id());
  } else {
    one.state = "unavailable";
    one.reason = reason_of(devices.status());
  }
  return one;
}

BackendListing::OfBackend of_entry(const PluginEntry& entry, const core::BackendSettingTexts& texts, bool again) {
  BackendListing::OfBackend one{.name = entry.manifest.name,
                                .state = "ready",
                                .reason = entry.why_not,
                                .version = entry.manifest.version,
                                .file = entry.file,
                                .library = entry.library,
                                .source = entry.source,
                                .description = entry.manifest.description};
  if (!entry.why_not.empty()) {
    one.state = entry.is_hidden ? "hidden" : "unusable";
    return one;
  }
  const auto options = plugin_options(texts, one.name);
  const auto report = plugin::first_contact(options.trial, one.library, one.name, options.settings, again);
  if (!report.ok()) {
    one.state = "refused";
    one.reason = reason_of(report.status());
    return one;
  }
  if (!report->version.empty()) one.version = report->version;
  one.devices = ids_of(one.name, *report);
  one.settings = report->settings;
  if (!report->availability.ok()) {
    one.state = "unavailable";
    one.reason = reason_of(report->availability);
  }
  return one;
}

// Returns the user's folder for manifests.
Result<std::filesystem::path> user_folder(const plugin::PluginFacts& facts) {
  const std::string folder = plugin::user_plugin_folder(facts);
  if (!folder.empty()) return platform::path_from_utf8(folder);
  return Status(StatusCode::kNotFound, "this user has no folder for plug-ins: set HOME or XDG_DATA_HOME");
}

// Reads what is to be added: a manifest, or else a library, whose manifest is made up by what the library says.
Result<PluginEntry> entry_of(const std::string& file, const plugin::PluginFacts& facts) {
  const auto path = platform::anchored(platform::path_from_utf8(file));
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return Status(StatusCode::kNotFound,
                  fmt::format("{} is not a file: give a plug-in's manifest (NAME.json) or its library", file));
  }
  std::string place = platform::path_to_utf8(path.lexically_normal());
  if (facts.search.system == core::System::kWindows) std::ranges::replace(place, '\\', '/');
  if (place.ends_with(".json")) {
    PluginEntry entry = plugin::read_plugin(place, facts, core::FileSystem::real());
    if (entry.why_not.empty()) return entry;
    return Status(StatusCode::kInvalidArgument, fmt::format("{}: {}", file, entry.why_not));
  }
  PluginEntry entry{.file = place, .source = "named"};
  entry.library = place;
  entry.manifest.contract_least = facts.contract_least;
  entry.manifest.contract_most = facts.contract_most;
  entry.manifest.platform = facts.platform;
  return entry;
}

Status write_manifest(const std::filesystem::path& file, const plugin::Manifest& manifest) {
  LB_RETURN_IF_ERROR(platform::make_private_folder(file.parent_path()));
  LB_RETURN_IF_ERROR(platform::check_folder_trust(file.parent_path()));
  LB_ASSIGN_OR_RETURN(auto output, platform::OutputFile::create(file));
  LB_RETURN_IF_ERROR(output.write(to_text(plugin::to_json(manifest))));
  return output.commit();
}

}  // namespace

Result<BackendListing> list_backends(const core::Registry& registry, const core::BackendSettingTexts& texts, bool again,
                                     const Client& client) {
  BackendListing listing;
  const auto names = built_in_backends();
  for (const auto& backend : registry.all()) {
    if (std::ranges::find(names, backend->name()) == names.end()) continue;
    LB_RETURN_IF_ERROR(client.check_cancelled());
    listing.backends.push_back(built_in(*backend));
  }
  auto found = find_plugins(texts);
  for (const PluginEntry& entry : found.entries) {
    LB_RETURN_IF_ERROR(client.check_cancelled());
    if (entry.why_not.empty()) client.advance("trying " + entry.manifest.name, 0, 0);
    listing.backends.push_back(of_entry(entry, texts, again));
  }
  listing.search = std::move(found.trace);
  return listing;
}

Result<AddedBackend> add_backend(const std::string& file, const core::BackendSettingTexts& texts,
                                 const Client& client) {
  const auto facts = plugin_facts(texts);
  LB_ASSIGN_OR_RETURN(const auto folder, user_folder(facts));
  LB_ASSIGN_OR_RETURN(PluginEntry entry, entry_of(file, facts));
  // Later the search finds the library by itself.
  if (const std::string why = core::FileSystem::real().why_not_trusted(entry.library); !why.empty())
    return Status(StatusCode::kPermissionDenied, fmt::format("{} would not be used: {}", entry.library, why));
  plugin::Manifest& manifest = entry.manifest;
  client.advance("trying " + entry.library, 0, 0);
  const bool has_name = !manifest.name.empty();
  const std::string expected = has_name ? manifest.name : std::string(plugin::kAnyName);
  const auto options = plugin_options(texts, manifest.name);
  LB_ASSIGN_OR_RETURN(const ContactReport report,
                      plugin::first_contact(options.trial, entry.library, expected, options.settings, true));
  if (!has_name) {
    manifest.name = report.name;
    manifest.version = report.version;
  }
  if (!plugin::is_backend_name(manifest.name)) {
    return Status(StatusCode::kInvalidArgument, fmt::format("{}: '{}' is not the name of a backend: it takes a "
                                                            "lower-case letter, then letters, digits and '_'",
                                                            entry.library, manifest.name));
  }
  if (const std::string why = plugin::why_not_named(manifest.name, facts); !why.empty())
    return Status(StatusCode::kInvalidArgument, fmt::format("{}: {}", entry.library, why));
  manifest.library = entry.library;
  const auto place = folder / platform::path_from_utf8(manifest.name + ".json");
  LB_RETURN_IF_ERROR(write_manifest(place, manifest));

  AddedBackend added{.name = manifest.name,
                     .file = platform::path_to_utf8(place),
                     .library = entry.library,
                     .version = report.version,
                     .devices = ids_of(manifest.name, report)};
  if (!report.availability.ok()) added.reason = reason_of(report.availability);
  for (const PluginEntry& one : find_plugins(texts).entries) {
    if (one.manifest.name == manifest.name && one.library == entry.library && !one.why_not.empty())
      added.reason = one.why_not;
  }
  return added;
}

Result<RemovedBackend> remove_backend(std::string_view name, const core::BackendSettingTexts& texts) {
  const auto facts = plugin_facts(texts);
  const std::string folder = plugin::user_plugin_folder(facts);
  RemovedBackend removed{.name = std::string(name), .files = {}};
  std::vector<std::string> known;
  std::string elsewhere;
  for (const PluginEntry& entry : find_plugins(texts).entries) {
    if (entry.manifest.name.empty()) continue;
    known.push_back(entry.manifest.name);
    if (entry.manifest.name != name) continue;
    if (folder.empty() || core::parent_folder(entry.file) != folder) {
      elsewhere = fmt::format("{} ({})", entry.file, entry.source);
      continue;
    }
    std::error_code error;
    if (!std::filesystem::remove(platform::path_from_utf8(entry.file), error) && error) {
      return Status(StatusCode::kIo, fmt::format("cannot remove {}: {}", entry.file, error.message()));
    }
    removed.files.push_back(entry.file);
  }
  if (!removed.files.empty()) return removed;
  if (!elsewhere.empty()) {
    return Status(
        StatusCode::kPermissionDenied,
        fmt::format("the plug-in {} was not added by `latebind backends add`: its manifest is {}", name, elsewhere));
  }
  if (known.empty()) return Status(StatusCode::kNotFound, fmt::format("there is no plug-in '{}', and no other", name));
  const std::vector<std::string_view> words(known.begin(), known.end());
  return Status(StatusCode::kNotFound, std::string(core::unknown_word_error("plug-in", name, words).message()));
}

Json to_json(const BackendListing& listing) {
  Json json;
  json["backends"] = Json::array();
  for (const auto& one : listing.backends) {
    json["backends"].push_back(Json{{"name", one.name},
                                    {"state", one.state},
                                    {"reason", one.reason},
                                    {"version", one.version},
                                    {"built_in", one.is_built_in},
                                    {"file", one.file},
                                    {"library", one.library},
                                    {"source", one.source},
                                    {"description", one.description},
                                    {"devices", one.devices}});
    Json& settings = json["backends"].back()["settings"] = Json::array();
    for (const plugin::SettingNote& setting : one.settings) {
      settings.push_back(Json{{"key", fmt::format("{}{}.{}", kPluginSettings, one.name, setting.key)},
                              {"value", setting.value},
                              {"help", setting.help}});
    }
  }
  json["search"] = Json::array();
  for (const core::SearchStep& step : listing.search)
    json["search"].push_back(Json{{"place", step.place}, {"source", step.source}, {"outcome", step.outcome}});
  return json;
}

Json to_json(const AddedBackend& added) {
  return Json{{"name", added.name},       {"file", added.file},       {"library", added.library},
              {"version", added.version}, {"devices", added.devices}, {"reason", added.reason}};
}

Json to_json(const RemovedBackend& removed) {
  return Json{{"name", removed.name}, {"files", removed.files}};
}

}  // namespace latebind::app
