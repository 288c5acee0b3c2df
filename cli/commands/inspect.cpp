// latebind inspect: shows what a bundle contains and whether it is intact.
#include "app/jobs/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/model_source.h"
#include "cli/data/node_text.h"
#include "cli/data/outline.h"
#include "cli/data/units.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/client.h"
#include "cli/terminal/parser.h"
#include "cli/terminal/runtime_options.h"
#include "core/bundle/asset.h"
#include "core/bundle/manifest.h"
#include "core/platform/files/folders.h"
#include "core/text/counted.h"
#include "core/text/one_line.h"

namespace latebind::cli {
namespace {

using Files = std::vector<core::PackageFiles::File>;
using core::Component;
using core::Package;
using core::PackageReport;
using core::Variant;

struct InspectArguments {
  std::string place;
  bool json = false;
  bool verify = false;
  bool explain = false;
  bool installed = false;
  SettingFlags flags{};
};

// "1x32, 1x128", "dynamic", or "" if unknown.
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

// The device of a variant, in a few words.
std::string device_of(const Variant& variant) {
  if (variant.latebind && !variant.latebind->backend.empty()) {
    return fmt::format("{}:{}", variant.latebind->backend, variant.latebind->device);
  }
  if (variant.ep.empty()) return variant.device;
  return variant.device.empty() ? variant.ep : fmt::format("{} ({})", variant.ep, variant.device);
}

// Formats columns as wide as their widest cell, separated by two spaces.
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

// The stored size of a variant, including its blob if that is a shared asset.
std::uint64_t bytes_of(const Package& package, const Variant& variant, const Files& files) {
  std::uint64_t bytes = variant.folder ? app::amount_below(files, *variant.folder).bytes : 0;
  if (!variant.latebind || !core::is_asset_ref(variant.latebind->model)) return bytes;
  const auto path = package.resolve(variant, variant.latebind->model);
  const auto blob = path.ok() ? std::ranges::find(files, *path, &core::PackageFiles::File::path) : files.end();
  return blob == files.end() ? bytes : bytes + blob->size;
}

std::string table_of(const Package& package, const Component& component, const Files& files) {
  std::vector<std::vector<std::string>> rows{{"variant", "target", "device", "runtime", "precision", "shapes", "MiB"}};
  for (const Variant& variant : component.variants) {
    const core::LatebindInfo info = variant.latebind.value_or(core::LatebindInfo{});
    std::vector<std::string> row{variant.name,
                                 info.target,
                                 device_of(variant),
                                 info.runtime_version,
                                 info.precision,
                                 shapes_of(variant),
                                 fmt::format("{:.1f}", mebibytes(bytes_of(package, variant, files)))};
    for (std::string& cell : row)
      cell = cell.empty() ? "-" : core::one_line(cell);
    rows.push_back(std::move(row));
  }
  return table(rows);
}

// Lists the targets that could not be compiled, and the nodes that incomplete variants leave to the CPU.
std::string refused_of(const Component& component) {
  std::string text;
  const auto nodes = [&text](const core::LeftNodes& left) {
    for (const core::LeftNode& node : left.first)
      text += fmt::format("    {}\n", node_text(node));
    if (left.count > left.first.size()) text += fmt::format("    and {} more\n", left.count - left.first.size());
  };
  for (const Variant& variant : component.variants) {
    if (!variant.latebind) continue;
    for (const core::RefusedTarget& one : variant.latebind->refused) {
      text += fmt::format("  {} by {}:{} {}: {}\n", core::one_line(one.variant), core::one_line(one.backend),
                          core::one_line(one.device), core::one_line(one.runtime_version), core::one_line(one.reason));
      nodes(one.nodes);
    }
    if (variant.latebind->left_to_cpu.count == 0) continue;
    text += fmt::format("  {}: nodes that are left to the CPU\n", core::one_line(variant.name));
    nodes(variant.latebind->left_to_cpu);
  }
  return text.empty() ? text : "\nnot compiled\n" + text;
}

std::string text_of(const Package& package, const Files& files) {
  const core::Manifest& manifest = package.manifest();
  const app::Amount all = app::amount_below(files, "");
  std::string text =
      fmt::format("{}{}{}: {} of {}, {:.1f} MiB (schema {}.{}, {})\n",
                  manifest.package_name.empty() ? "a bundle" : core::one_line(manifest.package_name),
                  manifest.package_version.empty() ? "" : " ", core::one_line(manifest.package_version),
                  package.files().is_zip() ? "one ZIP" : "a folder", core::counted(all.files, "file"),
                  mebibytes(all.bytes), core::Manifest::kMajor, manifest.schema_minor, core::word_of(manifest.layout));
  if (!manifest.description.empty()) text += core::one_line(manifest.description) + "\n";
  for (const Component& component : manifest.components) {
    text += fmt::format("\ncomponent {}\n{}{}", core::one_line(component.name), table_of(package, component, files),
                        refused_of(component));
  }
  if (!package.assets().empty()) text += "\nshared assets\n";
  for (const auto& [uri, folder] : package.assets()) {
    const app::Amount amount = app::amount_below(files, folder);
    text += fmt::format("  {}  {}, {:.1f} MiB\n", uri.substr(0, 19), core::counted(amount.files, "file"),
                        mebibytes(amount.bytes));
  }
  return text;
}

// `in_program` means the bundle is inside an ExecuTorch program and has no checksum.
std::string text_of(const PackageReport& report, bool in_program) {
  std::string text = "\n";
  for (const core::Status& damage : report.damages)
    text += fmt::format("damaged: {}\n", core::one_line(damage.to_string()));
  for (const std::string& file : report.unsummed)
    text += fmt::format("no checksum is recorded for {}\n", core::one_line(file));
  for (const std::string& file : report.crc_only) {
    text +=
        fmt::format("only a CRC-32 is recorded for {}: a deliberate change is not detected\n", core::one_line(file));
  }
  if (report.ok()) {
    text += fmt::format("{}{}, {:.1f} MiB, {} as written\n", core::counted(report.files, "file"),
                        in_program ? " of the bundle" : "", mebibytes(report.bytes), report.files == 1 ? "is" : "are");
  }
  if (in_program) text += "no checksum is recorded for the program around the bundle: a change there is not detected\n";
  return text;
}

std::string text_of(const std::vector<app::VariantDecision>& decisions,
                    const std::map<std::string, std::string>& followed) {
  std::string text = "\ndecisions, in the order in which devices are tried\n";
  for (const auto& [key, value] : followed)
    text += fmt::format("  set by the program: {} = {}\n", core::one_line(key), core::one_line(value));
  for (const app::VariantDecision& decision : decisions) {
    text += fmt::format("  {}{}{}: {}\n", core::one_line(decision.device), decision.variant.empty() ? "" : ", ",
                        core::one_line(decision.variant),
                        decision.status.ok() ? "loads here" : core::one_line(decision.status.brief()));
  }
  return text;
}

bool is_row_major(const pte::Tensor& tensor) {
  for (std::size_t i = 0; i < tensor.dim_order.size(); ++i) {
    if (tensor.dim_order[i] != i) return false;
  }
  return true;
}

std::string text_of(const pte::Value& value) {
  std::string text = value.name.empty() ? "" : core::one_line(value.name) + "  ";
  if (!value.tensor) return text + std::string(value.kind);
  const pte::Tensor& tensor = *value.tensor;
  std::string dims;
  for (const std::int32_t size : tensor.sizes)
    dims += fmt::format("{}{}", dims.empty() ? "" : ",", size);
  text += fmt::format("{} [{}]", pte::type_text(tensor.type), dims);
  if (tensor.dynamism == pte::Dynamism::kBounded) text += " at most";
  if (tensor.dynamism == pte::Dynamism::kUnbounded) text += " or any other";
  if (!is_row_major(tensor)) {
    std::string order;
    for (const std::uint8_t dim : tensor.dim_order)
      order += fmt::format("{}{}", order.empty() ? "" : ",", dim);
    text += fmt::format(", in memory as dimensions {}", order);
  }
  return text;
}

// Formats a compile spec's value for people.
std::string shown(std::span<const std::byte> value) {
  const auto text = app::spec_text(value);
  return text ? fmt::format("'{}'", *text) : fmt::format("{}", core::counted(value.size(), "byte"));
}

std::string text_of(const app::PteFile& opened) {
  const pte::Program& program = opened.program;
  std::uint64_t in_segments = 0;
  for (const pte::Segment& segment : program.segments)
    in_segments += segment.size;
  std::string text = fmt::format("ExecuTorch program: {:.1f} MiB, {:.1f} of them in segments\n",
                                 mebibytes(opened.file->bytes().size()), mebibytes(in_segments));
  for (const pte::Method& method : program.methods) {
    text += fmt::format("\nmethod {}\n", core::one_line(method.name));
    for (const pte::Value& value : method.inputs)
      text += fmt::format("  input     {}\n", text_of(value));
    for (const pte::Value& value : method.outputs)
      text += fmt::format("  output    {}\n", text_of(value));
    std::int64_t planned = 0;
    for (const std::int64_t bytes : method.planned_bytes)
      planned += bytes > 0 && planned <= INT64_MAX - bytes ? bytes : 0;
    text += fmt::format("  memory    {} bytes planned\n  calls     {} of delegates, {} of kernels, {} others\n",
                        planned, method.delegate_calls, method.kernel_calls, method.other_instructions);
    for (const pte::Delegate& delegate : method.delegates) {
      text += fmt::format("  delegate  {}: {}, {:.1f} MiB {}\n", core::one_line(delegate.id),
                          app::payload_kind(delegate.payload), mebibytes(delegate.payload.size()),
                          delegate.is_inline ? "in the flatbuffer" : fmt::format("in segment {}", delegate.index));
      for (const auto& spec : delegate.compile_specs)
        text += fmt::format("            {} = {}\n", core::one_line(spec.key), shown(spec.value));
    }
  }
  if (!program.named_data.empty())
    text += fmt::format("\n{} of named data\n", core::counted(program.named_data.size(), "piece"));
  return text;
}

std::string for_people(const app::InspectReport& report) {
  if (report.model) return outline(*report.model);
  if (!report.package) return text_of(*report.program);
  std::string text = report.program ? text_of(*report.program) + "\n" : "";
  text += text_of(*report.package, report.files);
  if (!report.assumed.empty()) text += fmt::format("\nassumed: {}\n", core::one_line(report.assumed));
  if (report.decisions) text += text_of(*report.decisions, report.followed);
  if (report.verification) text += text_of(*report.verification, report.program.has_value());
  return text;
}

Exit inspect(InspectArguments& options) {
  const TerminalClient terminal;
  // A name on the hub, as for the commands that use the model.
  const auto place = app::find_model(options.place, "", terminal.client());
  if (!place.ok()) return fail(place.status());
  options.place = platform::path_to_utf8(*place);
  std::optional<app::Runtime> runtime;
  if (options.explain) {
    auto made = make_runtime(options.flags, core::PerformanceHint::kThroughput);
    if (!made.ok()) return misuse("inspect", made.status().message());
    runtime = *std::move(made);
    // The program may request emulation, which prints to stdout.
    if (app::is_pte(platform::path_from_utf8(options.place))) keep_results_apart();
  }
  const app::InspectOptions what{platform::path_from_utf8(options.place), options.verify, options.installed};
  const auto report = app::inspect(what, runtime ? &*runtime : nullptr, terminal.client());
  if (!report.ok()) return fail(report.status());
  const auto printed = print(options.json ? app::to_text(app::to_json(*report)) : for_people(*report));
  if (!printed.ok()) return fail(printed);
  return !report->verification || report->verification->ok() ? Exit::kGood : Exit::kFailed;
}

}  // namespace

void add_inspect(Command& program, Action& chosen) {
  auto options = std::make_shared<InspectArguments>();
  Command& app = *program.add_subcommand(
      "inspect", "Shows and checks the content of a bundle, a model folder or an ExecuTorch program (.pte).");
  add_text(app, kModelNames, options->place, "PATH|ORG/NAME",
           "A bundle: a file, or a folder with manifest.json; a model's folder, or its name on the hub; or a .pte.")
      ->required();
  app.add_flag("--json", options->json, "Prints one JSON object, whose members docs/reports.md lists.");
  app.add_flag("--verify", options->verify,
               "Compares every file with its recorded checksum. The exit status is 1 if one has changed. In a .pte, "
               "only the bundle is checked: the program around it has no checksum.");
  app.add_flag("--explain", options->explain,
               "Reports which variants each device of --device loads, and why it does not load the others; it loads "
               "them to find out. A setting that is not given here comes from the program's compile specs; those are "
               "listed, in --json as followed: {KEY: VALUE}.");
  app.add_flag("--installed", options->installed,
               "Also accepts a package with the installed layout, which may refer to any file of this machine.");
  static constexpr SettingGroup kGroups[] = {SettingGroup::kPlacement, SettingGroup::kDevice, SettingGroup::kBackends};
  options->flags.add_to(app, kGroups);
  app.footer(
      "A bundle is an ONNX Runtime model package, as a folder or as one ZIP file; packages that other\n"
      "programs made are shown, too. Models are read only with --verify and --explain.\n"
      "\n"
      "Example:\n"
      "  latebind inspect minilm.lbundle --verify");
  app.callback([options, &chosen] { chosen = [options] { return inspect(*options); }; });
}

}  // namespace latebind::cli
