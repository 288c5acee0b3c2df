#include "app/jobs/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/model_source.h"
#include "core/bundle/bundle_model.h"
#include "core/bundle/choose.h"
#include "core/bundle/compile.h"
#include "core/bundle/path_rules.h"
#include "core/engine/engine.h"
#include "core/platform/files/folders.h"
#include "core/text/one_line.h"
#include "embedding/build_model.h"
#include "embedding/folder/gguf/gguf_model.h"
#include "formats/pte/device_words.h"

namespace latebind::app {

using core::Component;
using core::Package;
using core::PackageReport;
using core::Result;
using core::Variant;
using Files = std::vector<core::PackageFiles::File>;

namespace {

constexpr std::string_view kPrecisionSpec = "precision";

// Returns `runtime` completed by the delegate's compile specs. `followed` receives the specs that apply.
Result<Runtime> with_compile_specs(const pte::Delegate& delegate, const Runtime& runtime,
                                   std::map<std::string, std::string>& followed) {
  EffectiveSettings settings = runtime.effective;
  for (const pte::DelegateSpec& spec : delegate.compile_specs) {
    const std::string key(spec.key);
    const std::string origin = fmt::format("the program's compile spec {}", core::one_line(key));
    const SettingSpec* setting = find_setting(key);
    if (setting == nullptr || !setting->of_model) {
      return core::Status(core::StatusCode::kInvalidArgument,
                          fmt::format("{}: the delegate does not take that from a program", origin));
    }
    if (settings.is_set(key)) continue;
    std::string text(reinterpret_cast<const char*>(spec.value.data()), spec.value.size());
    text.erase(text.find_last_not_of('\0') + 1);
    if (text.empty()) continue;
    if (key == "device") {
      pte::DeviceWords device = pte::device_words(text);
      if (!device.complaint.empty()) {
        return core::Status(core::StatusCode::kInvalidArgument, fmt::format("{}: {}", origin, device.complaint));
      }
      text = std::move(device.words);
    }
    LB_RETURN_IF_ERROR(settings.set(key, text, origin));
    followed[key] = std::move(text);
  }
  // The delegate's default.
  if (!settings.is_set(kPrecisionSpec)) {
    LB_RETURN_IF_ERROR(settings.set(kPrecisionSpec, core::word_of(core::Precision::kF32), "default"));
  }
  return Runtime::make(settings, runtime.registry, {.hint = runtime.load.compile.hint});
}

// The precisions to try on a device, in order.
std::vector<core::Precision> precisions_for(const Runtime& runtime, const core::Device& device) {
  if (!runtime.precision_given) return {core::default_precision(device)};
  std::vector<core::Precision> precisions{runtime.load.compile.precision};
  precisions.insert(precisions.end(), runtime.load.other_precisions.begin(), runtime.load.other_precisions.end());
  return precisions;
}

// Decides a variant, in its own precision if that is among the requested ones. `model` is the package's.
core::Status decide(const Package& package, const Variant& variant, const Result<core::Model>& model,
                    const Runtime& runtime, core::Backend& backend, const core::Device& device) {
  const auto precisions = precisions_for(runtime, device);
  core::CompileOptions options = runtime.load.compile;
  options.precision = precisions.front();
  for (const core::Precision precision : precisions) {
    if (variant.latebind && variant.latebind->precision == core::word_of(precision)) options.precision = precision;
  }
  const bool is_portable = variant.latebind && variant.latebind->is_portable();
  if (device.traits.graphs_only && is_portable) {
    LB_RETURN_IF_ERROR(model.status());
    return backend.load(*model, device.name, options).status();
  }
  // If shapes were requested, only those count; otherwise blobs of any shape do.
  if (!options.input_shapes.empty()) LB_RETURN_IF_ERROR(core::judge(variant, device, options));
  return core::try_variant(package, variant, backend, device, options);
}

// Adds the targets that have no variant because their compiler refused the model.
void add_refused(const Component& component, const Runtime& runtime, const core::Device& device,
                 std::vector<VariantDecision>& all) {
  const Variant* portable = core::portable_variant(component);
  if (portable == nullptr || !portable->latebind) return;
  const auto precisions = precisions_for(runtime, device);
  for (const core::RefusedTarget& one : portable->latebind->refused) {
    const bool is_asked_for = std::ranges::any_of(
        precisions, [&](core::Precision precision) { return one.precision == core::word_of(precision); });
    if (one.backend != device.backend || one.target != device.target() || !is_asked_for) continue;
    all.push_back({device.id(), one.variant,
                   core::Status(core::StatusCode::kUnsupported,
                                fmt::format("not in the bundle: {}", core::one_line(one.reason)))});
  }
}

// Decides every variant on every device of the placement, in order.
Result<std::vector<VariantDecision>> decisions(const Package& package, const Runtime& runtime) {
  LB_ASSIGN_OR_RETURN(const Component* component, core::model_component(package));
  std::vector<VariantDecision> all;
  const auto model = embedding::model_of_bundle(package);
  const auto prefers = core::preference_for(model.ok() ? core::ModelKind::of(*model) : core::ModelKind(), runtime.load);
  for (const auto& candidate : runtime.placement.resolve(runtime.registry, runtime.settings.emulate, prefers)) {
    if (!candidate.device) {
      all.push_back({candidate.refusal.device, "", core::Status(core::StatusCode::kNoDevice, candidate.refusal.brief)});
      continue;
    }
    const auto backend = runtime.registry.find(candidate.device->backend);
    for (const Variant& variant : component->variants) {
      all.push_back({candidate.device->id(), variant.name,
                     decide(package, variant, model, runtime, *backend, *candidate.device)});
    }
    add_refused(*component, runtime, *candidate.device, all);
  }
  return all;
}

Json to_json(const Variant& variant, const Files& files) {
  const Amount amount = variant.folder ? amount_below(files, *variant.folder) : Amount{};
  Json json;
  json["name"] = variant.name;
  json["folder"] = variant.folder ? Json(*variant.folder) : Json();
  json["ep"] = variant.ep;
  json["device"] = variant.device;
  json["compatibility_string"] = variant.compatibility_string;
  json["files"] = amount.files;
  json["bytes"] = amount.bytes;
  json["latebind"] = variant.latebind ? Json(core::to_json(*variant.latebind)) : Json();
  json["consumers"] = Json::array();
  for (const auto& [consumer, slot] : variant.executor_info)
    json["consumers"].push_back(consumer);
  return json;
}

Json to_json(const Package& package, const Files& files) {
  const core::Manifest& manifest = package.manifest();
  const Amount all = amount_below(files, "");
  Json json;
  json["form"] = package.files().is_zip() ? "zip" : "folder";
  json["schema_version"] = fmt::format("{}.{}", core::Manifest::kMajor, manifest.schema_minor);
  json["layout"] = core::word_of(manifest.layout);
  json["package_name"] = manifest.package_name;
  json["package_version"] = manifest.package_version;
  json["description"] = manifest.description;
  json["additional_metadata"] = manifest.additional_metadata;
  json["files"] = all.files;
  json["bytes"] = all.bytes;
  json["components"] = Json::array();
  for (const Component& component : manifest.components) {
    Json one;
    one["name"] = component.name;
    one["variants"] = Json::array();
    for (const Variant& variant : component.variants)
      one["variants"].push_back(to_json(variant, files));
    json["components"].push_back(std::move(one));
  }
  json["shared_assets"] = Json::array();
  for (const auto& [uri, folder] : package.assets()) {
    const Amount amount = amount_below(files, folder);
    json["shared_assets"].push_back(
        Json{{"uri", uri}, {"folder", folder}, {"files", amount.files}, {"bytes", amount.bytes}});
  }
  return json;
}

Json to_json(const PackageReport& report) {
  Json json;
  json["files"] = report.files;
  json["bytes"] = report.bytes;
  json["unsummed"] = report.unsummed;
  json["crc_only"] = report.crc_only;
  json["damages"] = Json::array();
  for (const core::Status& damage : report.damages)
    json["damages"].push_back(reason_of(damage));
  return json;
}

Json to_json(const std::vector<VariantDecision>& decisions) {
  Json json = Json::array();
  for (const VariantDecision& decision : decisions) {
    json.push_back(Json{{"device", decision.device},
                        {"variant", decision.variant},
                        {"loads", decision.status.ok()},
                        {"reason", reason_of(decision.status)}});
  }
  return json;
}

// Opens the bundle itself or the one in the program; std::nullopt for a program without a bundle.
Result<std::optional<Package>> open_package(const InspectOptions& options, const std::optional<PteFile>& program) {
  const core::PackageOptions how{.installed = options.installed ? core::InstalledLayout::kAllowed
                                                                : core::InstalledLayout::kRefused};
  if (!program) {
    LB_ASSIGN_OR_RETURN(auto package, Package::open(options.place, how));
    return std::optional(std::move(package));
  }
  LB_ASSIGN_OR_RETURN(auto files, program->bundle());
  if (!files) return std::optional<Package>();
  LB_ASSIGN_OR_RETURN(auto package, Package::from_files(*std::move(files), how));
  return std::optional(std::move(package));
}

// Whether the folder holds a model in the layout of the hub.
bool is_model_folder(const std::filesystem::path& place) {
  const auto has = [&](const char* name) {
    std::error_code error;
    return std::filesystem::is_regular_file(place / name, error);
  };
  if (core::is_bundle(place)) return false;
  if (has("config.json") || has("modules.json") || has("adapter_config.json")) return true;
  std::error_code error;
  const bool is_named_gguf = embedding::has_gguf_suffix(place) && std::filesystem::is_regular_file(place, error);
  if (is_named_gguf || embedding::is_gguf_file(place)) return true;
  const auto gguf = embedding::find_gguf_model(place);
  return !gguf.ok() || gguf->has_value();
}

// Returns "" if the bundle is not an embedding model or cannot be read.
std::string assumption_of(const Package& package) {
  const auto files = embedding::ModelFiles::of(package);
  if (!files.ok()) return {};
  const auto folder = embedding::ModelFolder::of(*files);
  if (!folder.ok() || folder->documents().assumed.empty()) return {};
  const auto built = embedding::build_model(folder->documents());
  return built.ok() ? built->assumed : std::string();
}

}  // namespace

Amount amount_below(const std::vector<core::PackageFiles::File>& files, const std::string& folder) {
  Amount amount;
  for (const auto& file : files) {
    if (!core::is_below(file.path, folder)) continue;
    ++amount.files;
    amount.bytes += file.size;
  }
  return amount;
}

Result<InspectReport> inspect(const InspectOptions& options, const Runtime* explained_by, const Client& client) {
  InspectReport report;
  if (is_model_folder(options.place)) {
    if (options.verify || explained_by != nullptr) {
      return core::Status(
          core::StatusCode::kInvalidArgument,
          fmt::format("{} is a model folder: {} and {} are about bundles", platform::path_to_utf8(options.place),
                      client.name("verify"), client.name("explain")));
    }
    LB_ASSIGN_OR_RETURN(const auto folder, open_folder(options.place, /*onnx_file=*/""));
    report.model = folder.describe();
    return report;
  }
  if (is_pte(options.place)) {
    LB_ASSIGN_OR_RETURN(report.program, open_pte(options.place));
  }
  LB_ASSIGN_OR_RETURN(report.package, open_package(options, report.program));
  if (!report.package) {
    if (!options.verify && explained_by == nullptr) return report;
    return core::Status(
        core::StatusCode::kInvalidArgument,
        fmt::format("{}: it contains no bundle, so {} and {} do not apply", platform::path_to_utf8(options.place),
                    client.name("verify"), client.name("explain")));
  }
  LB_ASSIGN_OR_RETURN(report.files, report.package->files().list());
  report.assumed = assumption_of(*report.package);
  if (options.verify) {
    LB_ASSIGN_OR_RETURN(report.verification, report.package->verify());
  }
  if (explained_by != nullptr) {
    std::optional<Runtime> told;
    if (report.program) {
      LB_ASSIGN_OR_RETURN(told, with_compile_specs(*report.program->with_bundle(), *explained_by, report.followed));
    }
    LB_ASSIGN_OR_RETURN(report.decisions, decisions(*report.package, told ? *told : *explained_by));
  }
  return report;
}

Json to_json(const InspectReport& report) {
  if (report.model) return *report.model;
  if (!report.package) return to_json(*report.program);
  Json json = to_json(*report.package, report.files);
  if (report.program) {
    Json whole = to_json(*report.program);
    whole["bundle"] = std::move(json);
    json = std::move(whole);
  }
  json["assumed"] = report.assumed.empty() ? Json() : Json(report.assumed);
  json["verification"] = report.verification ? to_json(*report.verification) : Json();
  json["decisions"] = report.decisions ? to_json(*report.decisions) : Json();
  if (report.program) json["followed"] = report.followed;
  return json;
}

}  // namespace latebind::app
