#include "app/jobs/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "app/jobs/compile_input.h"
#include "app/jobs/compile_lock.h"
#include "app/jobs/compile_output.h"
#include "app/jobs/compile_place.h"
#include "app/jobs/compile_plan.h"
#include "app/jobs/compile_pte.h"
#include "app/jobs/pte_file.h"
#include "core/bundle/bundle_model.h"
#include "core/platform/files/folders.h"

namespace latebind::app {
namespace {

using core::CompileOutcome;
using core::Status;
using core::StatusCode;

Status misuse(std::string text) {
  return {StatusCode::kInvalidArgument, std::move(text)};
}

// Returns the first option given that applies only to ExecuTorch programs, or "".
std::string_view first_program_option(const PteOptions& options) {
  if (!options.max_shapes.empty()) return "max_shape";
  if (!options.compile_specs.empty()) return "compile_spec";
  if (options.plan_inputs) return "plan_inputs";
  return options.model.empty() ? "" : "program_model";
}

// Rejects options that have no effect on a program that keeps its payload.
Status check_unchanged(const CompileOptions& options, const Client& client) {
  const std::string replacement = client.name("program_model");
  if (!options.targets.empty()) {
    return misuse(
        fmt::format("{} compiles a model: name the model of the program with {}", client.name("target"), replacement));
  }
  const std::pair<const char*, bool> options_of_bundles[] = {
      {"shapes", options.shapes != std::vector<std::string>{kAutoShapes}},
      {"precision", options.names_precision},
      {"name", !options.name.empty()},
      {"package_version", !options.version.empty()},
      {"source", !options.source.empty()},
      {"revision", !options.revision.empty()},
      {"license", !options.licence.empty()}};
  for (const auto& [option, is_given] : options_of_bundles) {
    if (!is_given) continue;
    return misuse(
        fmt::format("{} is about a bundle: name the model of the program with {}", client.name(option), replacement));
  }
  return {};
}

// Checks that all options go with the format.
Status check_format(const CompileOptions& options, bool is_program, const Client& client) {
  const std::string_view of_program = first_program_option(options.pte);
  const std::string model = client.name("model");
  const std::string to_program = client.name("format") + " pte";
  if (std::ranges::find(options.targets, std::string()) != options.targets.end()) {
    return misuse(fmt::format("{} is empty: name what to compile for, such as cpu", client.name("target")));
  }
  if (options.format != CompileFormat::kPte) {
    if (is_program) return misuse(fmt::format("{} is a program of ExecuTorch: {} converts it", model, to_program));
    // A bundle may hold the portable model alone.
    if (options.targets.empty() && (options.format == CompileFormat::kBlob || options.add)) {
      return misuse(fmt::format("{} is required: what to compile for, such as cpu", client.name("target")));
    }
    return of_program.empty() ? Status()
                              : misuse(fmt::format("{} is only valid with {}", client.name(of_program), to_program));
  }
  if (!is_program) {
    if (options.pte.model.empty()) return {};
    return misuse(
        fmt::format("{} requires a {} that is a program of ExecuTorch (.pte)", client.name("program_model"), model));
  }
  if (options.add) {
    return misuse(fmt::format("{} makes a bundle: it cannot be used with a program of ExecuTorch", client.name("add")));
  }
  if (!of_program.empty() && of_program != "program_model") {
    return misuse(fmt::format("{} cannot be used with a program that is converted: the program keeps its own",
                              client.name(of_program)));
  }
  return options.pte.model.empty() ? check_unchanged(options, client) : Status();
}

// Records whether the options are to blame for `status`.
Status in_options(CompileReport& report, Status status) {
  report.options_are_wrong = !status.ok();
  return status;
}

// Checks that the options are consistent and that the inputs exist.
Status check(const CompileOptions& options, const Runtime& runtime, bool is_program, const Client& client,
             CompileReport& report) {
  if (!runtime.load.compile.input_shapes.empty()) {
    return in_options(
        report, misuse(fmt::format("input_shapes is set, but a compiled model has its shapes from {}: leave it out",
                                   client.name("shapes"))));
  }
  LB_RETURN_IF_ERROR(in_options(report, check_shapes(options, client)));
  if (options.add && options.format == CompileFormat::kBlob) {
    return in_options(report, misuse(fmt::format("{} makes a bundle: it cannot be used with {} blob",
                                                 client.name("add"), client.name("format"))));
  }
  LB_RETURN_IF_ERROR(in_options(report, check_output(options, is_program, client)));
  LB_RETURN_IF_ERROR(check_input(client.name("model"), options.model));
  LB_RETURN_IF_ERROR(in_options(report, check_format(options, is_program, client)));
  if (options.format == CompileFormat::kPte) {
    Status status = check_pte_options(options, runtime, client);
    // A limit of this build; the options are not to blame.
    if (status.code() == StatusCode::kUnsupported) return status;
    LB_RETURN_IF_ERROR(in_options(report, std::move(status)));
  }
  return options.pte.model.empty() ? Status() : check_input(client.name("program_model"), options.pte.model);
}

Status compile_and_write(const CompileOptions& options, const Runtime& runtime, const Client& client,
                         const CompileWatch& watch, CompileReport& report) {
  const auto source = platform::path_from_utf8(options.model);
  const bool is_program = is_pte(source);
  LB_RETURN_IF_ERROR(check(options, runtime, is_program, client, report));
  LB_ASSIGN_OR_RETURN(const auto lock, lock_output(options.output, client));
  LB_RETURN_IF_ERROR(in_options(report, check_replaced(options, client)));
  LB_RETURN_IF_ERROR(try_output(options));
  if (is_program && options.pte.model.empty()) {
    LB_RETURN_IF_ERROR(convert_pte(platform::path_from_utf8(options.output), source, nullptr, client));
    report.is_complete = true;
    return {};
  }
  // A bundle is copied into a program unchanged.
  const std::string& model = is_program ? options.pte.model : options.model;
  const bool is_bundle = options.format == CompileFormat::kPte && core::is_bundle(platform::path_from_utf8(model));
  LB_ASSIGN_OR_RETURN(const auto input, read_compile_input(model, options.add || is_bundle, runtime.onnx_file, client));
  LB_RETURN_IF_ERROR(in_options(report, check_output_of(input, options.output, client)));
  LB_RETURN_IF_ERROR(in_options(report, check_head(options, input, client)));
  LB_RETURN_IF_ERROR(check_portable(options, input));
  LB_RETURN_IF_ERROR(plan_compile(options, runtime, input, client, report));
  if (options.format == CompileFormat::kBlob && report.jobs.size() != 1) {
    return in_options(report, misuse(fmt::format("{} blob takes one target and one shape, not {}",
                                                 client.name("format"), report.jobs.size())));
  }
  core::CompileRun run;
  run.side_by_side = side_by_side(options, input);
  run.strict = options.strict || runtime.load.strict;
  run.keep_going = options.keep_going;
  run.cancellation = client.cancellation;
  std::size_t done = 0;
  run.tell = [&](std::size_t job, const CompileOutcome* outcome) {
    if (outcome != nullptr) ++done;
    if (watch) watch({report.jobs[job], outcome, done, report.jobs.size()});
  };
  report.outcomes = core::compile_all(input.model, report.jobs, run);
  LB_RETURN_IF_ERROR(client.check_cancelled());
  // Only after compiling: the libraries loaded in this process affect what a vendor compiles.
  std::optional<PteSignature> signature;
  if (options.format == CompileFormat::kPte && options.pte.model.empty()) {
    LB_ASSIGN_OR_RETURN(signature, plan_pte(options.pte, input, runtime, report.jobs, client));
  }

  Status failure;
  for (const CompileOutcome& outcome : report.outcomes) {
    if (failure.ok() && outcome.status.code() != StatusCode::kCancelled) failure = outcome.status;
  }
  const bool any = std::ranges::any_of(report.outcomes, [](const auto& outcome) { return outcome.blob.has_value(); });
  const bool usable = options.keep_going ? any || options.targets.empty() : failure.ok();
  if (usable) {
    LB_RETURN_IF_ERROR(write_compiled(options, runtime, input, report.jobs, report.outcomes,
                                      signature ? &*signature : nullptr, client));
  }
  report.is_complete = true;
  if (usable) return {};
  return failure.ok() ? Status(StatusCode::kNoDevice, "nothing could be compiled") : failure;
}

}  // namespace

CompileReport compile(const CompileOptions& options, const Runtime& runtime, const Client& client,
                      const CompileWatch& watch) {
  CompileReport report;
  report.output = options.output;
  report.failure = compile_and_write(options, runtime, client, watch, report);
  report.written = report.failure.ok();
  return report;
}

Json to_json(const CompileReport& report) {
  Json json;
  json["output"] = report.written ? Json(report.output) : Json();
  json["variants"] = Json::array();
  for (std::size_t i = 0; i < report.jobs.size(); ++i) {
    const core::CompileJob& job = report.jobs[i];
    const CompileOutcome& outcome = report.outcomes[i];
    Json one;
    one["name"] = core::variant_name(job);
    one["target"] = job.target.text;
    one["device"] = job.target.device.id();
    one["compiled"] = outcome.blob.has_value();
    one["bytes"] = outcome.blob ? outcome.blob->bytes.bytes.size() : 0;
    one["seconds"] = rounded(outcome.seconds, 3);
    one["reason"] = reason_of(outcome.status);
    one["note"] = outcome.note;
    one["left_to_cpu"] = Json(core::to_json(outcome.left));
    json["variants"].push_back(std::move(one));
  }
  json["refused"] = Json::array();
  for (const Status& status : report.refused)
    json["refused"].push_back(reason_of(status));
  return json;
}

}  // namespace latebind::app
