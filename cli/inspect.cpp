// latebind inspect: what is in a bundle, and whether it is still as it was written.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/byte_sink.h"
#include "cli/compile_pte.h"
#include "cli/inspect_pte.h"
#include "cli/json_text.h"
#include "cli/parser.h"
#include "cli/runtime_options.h"
#include "cli/units.h"
#include "core/bundle/choose.h"
#include "core/bundle/compile.h"
#include "core/bundle/package.h"
#include "core/bundle/path_rules.h"
#include "core/platform/folders.h"

namespace latebind::cli {
namespace {

using core::Component;
using core::Package;
using core::PackageReport;
using core::Result;
using core::Variant;

struct InspectArguments {
  std::string place;
  bool json = false;
  bool verify = false;
  bool explain = false;
  bool installed = false;
  RuntimeOptions runtime{};
};

struct Amount {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
};

using Files = std::vector<core::PackageFiles::File>;

Amount amount_below(const Files& files, const std::string& folder) {
  Amount amount;
  for (const auto& file : files) {
    if (!core::is_below(file.path, folder)) continue;
    ++amount.files;
    amount.bytes += file.size;
  }
  return amount;
}

// "1x32, 1x128", "dynamic", or "" when nothing is known.
std::string shapes_of(const Variant& variant) {
  if (!variant.latebind) return "";
  if (variant.latebind->shapes.empty()) return "dynamic";
  std::string text;
  for (const auto& shape : variant.latebind->shapes) {
    if (!text.empty()) text += ", ";
    std::string dims;
    for (const std::int64_t dim : shape)
      dims += fmt::format("{}{}", dims.empty() ? "" : "x", dim < 0 ? "?" : std::to_string(dim));
    text += dims.empty() ? "scalar" : dims;
  }
  return text;
}

// Where it runs, in a few words.
std::string device_of(const Variant& variant) {
  if (variant.latebind && !variant.latebind->backend.empty()) {
    return fmt::format("{}:{}", variant.latebind->backend, variant.latebind->device);
  }
  if (variant.ep.empty()) return variant.device;
  return variant.device.empty() ? variant.ep : fmt::format("{} ({})", variant.ep, variant.device);
}

// Columns as wide as their widest cell, two spaces between.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i)
      line += fmt::format(" {:<{}} ", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string table_of(const Component& component, const Files& files) {
  std::vector<std::vector<std::string>> rows{{"variant", "target", "device", "runtime", "precision", "shapes", "MiB"}};
  for (const Variant& variant : component.variants) {
    const core::LatebindInfo info = variant.latebind.value_or(core::LatebindInfo{});
    const Amount amount = variant.folder ? amount_below(files, *variant.folder) : Amount{};
    std::vector<std::string> row{variant.name,
                                 info.target,
                                 device_of(variant),
                                 info.runtime_version,
                                 info.precision,
                                 shapes_of(variant),
                                 fmt::format("{:.1f}", mebibytes(amount.bytes))};
    for (std::string& cell : row)
      cell = cell.empty() ? "-" : one_line(cell);
    rows.push_back(std::move(row));
  }
  return table(rows);
}

std::string text_of(const Package& package, const Files& files) {
  const core::Manifest& manifest = package.manifest();
  const Amount all = amount_below(files, "");
  std::string text = fmt::format("{}{}{}: {} of {} files, {:.1f} MiB (schema {}.{}, {})\n",
                                 manifest.package_name.empty() ? "a bundle" : one_line(manifest.package_name),
                                 manifest.package_version.empty() ? "" : " ", one_line(manifest.package_version),
                                 package.files().is_zip() ? "one ZIP" : "a folder", all.files, mebibytes(all.bytes),
                                 core::Manifest::kMajor, manifest.schema_minor, core::word_of(manifest.layout));
  if (!manifest.description.empty()) text += one_line(manifest.description) + "\n";
  for (const Component& component : manifest.components)
    text += fmt::format("\ncomponent {}\n{}", one_line(component.name), table_of(component, files));
  if (!package.assets().empty()) text += "\nshared assets\n";
  for (const auto& [uri, folder] : package.assets()) {
    const Amount amount = amount_below(files, folder);
    text += fmt::format("  {}  {} files, {:.1f} MiB\n", uri.substr(0, 19), amount.files, mebibytes(amount.bytes));
  }
  return text;
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

// `in_program`: of the bundle in a program of ExecuTorch, which has no sum of its own.
std::string text_of(const PackageReport& report, bool in_program) {
  std::string text = "\n";
  for (const core::Status& damage : report.damages)
    text += fmt::format("damaged: {}\n", one_line(damage.to_string()));
  for (const std::string& file : report.unsummed)
    text += fmt::format("no sum is recorded of {}\n", one_line(file));
  for (const std::string& file : report.crc_only)
    text += fmt::format("only a CRC-32 is recorded of {}: what was changed on purpose does not show\n", one_line(file));
  if (report.ok()) {
    text += fmt::format("{} files{}, {:.1f} MiB, are as they were written\n", report.files,
                        in_program ? " of the bundle" : "", mebibytes(report.bytes));
  }
  if (in_program) text += "no sum is recorded of the program around the bundle: what was changed there does not show\n";
  return text;
}

struct Decision {
  std::string device;
  std::string variant;
  core::Status status;  // ok: it is used there
};

// Every variant on every device of the placement, in the order in which they are tried.
Result<std::vector<Decision>> decisions(const Package& package, const Runtime& runtime) {
  LB_ASSIGN_OR_RETURN(const Component* component, core::model_component(package));
  std::vector<Decision> all;
  for (const auto& candidate : runtime.placement.resolve(runtime.registry, runtime.settings.emulate)) {
    if (!candidate.device) {
      all.push_back({candidate.refusal.device, "", core::Status(core::StatusCode::kNoDevice, candidate.refusal.brief)});
      continue;
    }
    const auto backend = runtime.registry.find(candidate.device->backend);
    for (const Variant& variant : component->variants) {
      core::CompileOptions options = runtime.load.compile;
      if (!runtime.precision_given) options.precision = core::default_precision(*candidate.device);
      all.push_back({candidate.device->id(), variant.name,
                     core::try_variant(package, variant, *backend, *candidate.device, options)});
    }
  }
  return all;
}

std::string text_of(const std::vector<Decision>& decisions) {
  std::string text = "\ndecisions, in the order in which devices are tried\n";
  for (const Decision& decision : decisions) {
    text += fmt::format("  {}{}{}: {}\n", one_line(decision.device), decision.variant.empty() ? "" : ", ",
                        one_line(decision.variant),
                        decision.status.ok() ? "loads here" : one_line(decision.status.brief()));
  }
  return text;
}

Json to_json(const std::vector<Decision>& decisions) {
  Json json = Json::array();
  for (const Decision& decision : decisions) {
    json.push_back(Json{{"device", decision.device},
                        {"variant", decision.variant},
                        {"loads", decision.status.ok()},
                        {"reason", reason_of(decision.status)}});
  }
  return json;
}

// Prints the text, or the JSON when that is wanted.
Exit finish(const InspectArguments& options, const std::string& text, const Json& json, Exit exit = Exit::kGood) {
  const auto printed = print(options.json ? to_text(json) : text);
  return printed.ok() ? exit : fail(printed);
}

// The bundle that is there or in the program; nothing when the program has none.
Result<std::optional<Package>> open_package(const InspectArguments& options, const std::filesystem::path& place,
                                            const std::optional<OpenedPte>& program) {
  const core::PackageOptions how{.installed = options.installed ? core::InstalledLayout::kAllowed
                                                                : core::InstalledLayout::kRefused};
  if (!program) {
    LB_ASSIGN_OR_RETURN(auto package, Package::open(place, how));
    return std::optional(std::move(package));
  }
  LB_ASSIGN_OR_RETURN(auto files, program->bundle());
  if (!files) {
    if (options.verify || options.explain) {
      return core::Status(
          core::StatusCode::kInvalidArgument,
          fmt::format("{}: no bundle is in it, so there is nothing for --verify and --explain", options.place));
    }
    return std::optional<Package>();
  }
  LB_ASSIGN_OR_RETURN(auto package, Package::from_files(*std::move(files), how));
  return std::optional(std::move(package));
}

Exit inspect_package(const InspectArguments& options, const std::optional<Runtime>& runtime,
                     const std::optional<OpenedPte>& program, const Package& package) {
  const auto files = package.files().list();
  if (!files.ok()) return fail(files.status());
  std::optional<PackageReport> report;
  if (options.verify) {
    auto verified = package.verify();
    if (!verified.ok()) return fail(verified.status());
    report = *std::move(verified);
  }
  std::vector<Decision> explained;
  if (runtime) {
    auto decided = decisions(package, *runtime);
    if (!decided.ok()) return fail(decided.status());
    explained = *std::move(decided);
  }
  const Exit exit = !report || report->ok() ? Exit::kGood : Exit::kFailed;
  if (options.json) {
    Json json = to_json(package, *files);
    if (program) {
      Json whole = to_json(*program);
      whole["bundle"] = std::move(json);
      json = std::move(whole);
    }
    json["verification"] = report ? to_json(*report) : Json();
    json["decisions"] = runtime ? to_json(explained) : Json();
    return finish(options, "", json, exit);
  }
  std::string text = program ? text_of(*program) + "\n" : "";
  text += text_of(package, *files);
  if (runtime) text += text_of(explained);
  if (report) text += text_of(*report, program.has_value());
  return finish(options, text, Json(), exit);
}

Exit inspect(const InspectArguments& options) {
  std::optional<Runtime> runtime;
  if (options.explain) {
    auto made = Runtime::make(options.runtime, core::PerformanceHint::kThroughput);
    if (!made.ok()) return misuse("inspect", made.status().message());
    runtime = *std::move(made);
  }
  const auto place = platform::path_from_utf8(options.place);
  std::optional<OpenedPte> program;
  if (is_pte(place)) {
    auto opened = open_pte(place);
    if (!opened.ok()) return fail(opened.status());
    program = *std::move(opened);
  }
  const auto package = open_package(options, place, program);
  if (!package.ok()) return fail(package.status());
  if (!*package) return finish(options, text_of(*program), to_json(*program));
  return inspect_package(options, runtime, program, **package);
}

}  // namespace

void add_inspect(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<InspectArguments>();
  CLI::App& app = *program.add_subcommand(
      "inspect", "Shows what is in a bundle or in a program of ExecuTorch (.pte), and checks it.");
  app.add_option("PATH", options->place, "A bundle: a file, or a folder with manifest.json; or a .pte.")
      ->required()
      ->expected(1);
  app.add_flag("--json", options->json,
               "Prints {form, schema_version, layout, package_name, package_version, description, "
               "additional_metadata, files, bytes, components: [{name, variants: [...]}], shared_assets: [{uri, "
               "folder, files, bytes}], verification: {files, bytes, unsummed, crc_only, damages}, decisions: "
               "[{device, variant, "
               "loads, reason}]}. Of a .pte: {form, bytes, version, constants, named_data, segments, methods: [{name, "
               "inputs: [{name, kind, type, sizes, dynamism, dim_order, planned}], outputs, planned_bytes, "
               "delegate_calls, kernel_calls, other_instructions, delegates: [{id, payload, bytes, offset, inline, "
               "compile_specs}]}], bundle, verification, decisions}, where bundle is as above.");
  app.add_flag(
      "--verify", options->verify,
      "Reads every file and compares it with what was recorded of it; exit status 1 when one was changed. Of a "
      ".pte the bundle alone: of the program around it nothing is recorded.");
  app.add_flag(
      "--explain", options->explain,
      "Says for every device of --device which variants it loads, and why not the others. Loads them to know.");
  app.add_flag("--installed", options->installed,
               "Takes a package with the installed layout too, which may refer to any file of this machine.");
  static constexpr SettingGroup kGroups[] = {SettingGroup::kPlacement, SettingGroup::kDevice, SettingGroup::kLibraries};
  options->runtime.add_to(app, kGroups);
  app.footer(
      "A bundle is an ONNX Runtime model package, as a folder or as one ZIP of it; packages that\n"
      "others made are shown as well. No model is read but by --verify and --explain.\n\n"
      "Example:\n"
      "  latebind inspect minilm.lbundle --verify");
  app.callback([options, &chosen] { chosen = [options] { return inspect(*options); }; });
}

}  // namespace latebind::cli
