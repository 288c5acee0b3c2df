#include "app/job_table.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "app/jobs/cache.h"
#include "app/jobs/compile.h"
#include "app/jobs/devices.h"
#include "app/jobs/doctor.h"
#include "app/jobs/export.h"
#include "app/jobs/inspect.h"
#include "app/jobs/pull.h"
#include "app/jobs/unpack.h"
#include "app/jobs/warm.h"
#include "core/platform/folders.h"

namespace latebind::app {
namespace {

using core::Result;
using core::Status;

// Of what gives a report or an error.
template <class Report>
JobOutcome outcome_of(const Result<Report>& report) {
  if (!report.ok()) return {report.status(), std::nullopt};
  return {Status(), to_json(*report)};
}

JobOutcome run_cache_clear(JobOptions& options, const Runtime& runtime, const Client& /*client*/) {
  if (Status status = options.finish(); !status.ok()) return {std::move(status), std::nullopt};
  const auto store = open_cache(runtime.settings);
  return store.ok() ? outcome_of((*store)->clear()) : JobOutcome{store.status(), std::nullopt};
}

JobOutcome run_cache_list(JobOptions& options, const Runtime& runtime, const Client& /*client*/) {
  if (Status status = options.finish(); !status.ok()) return {std::move(status), std::nullopt};
  const auto store = open_cache(runtime.settings);
  return store.ok() ? outcome_of(list_cache(**store)) : JobOutcome{store.status(), std::nullopt};
}

JobOutcome run_cache_verify(JobOptions& options, const Runtime& runtime, const Client& /*client*/) {
  if (Status status = options.finish(); !status.ok()) return {std::move(status), std::nullopt};
  const auto store = open_cache(runtime.settings);
  return store.ok() ? outcome_of(verify_cache(**store)) : JobOutcome{store.status(), std::nullopt};
}

Result<CompileOptions> read_compile(JobOptions& options) {
  CompileOptions read;
  LB_RETURN_IF_ERROR(options.require("model", read.model));
  LB_RETURN_IF_ERROR(options.require("output", read.output));
  LB_RETURN_IF_ERROR(options.take("target", read.targets));
  LB_RETURN_IF_ERROR(options.take("shapes", read.shapes));
  LB_RETURN_IF_ERROR(options.take_word("format", read.format));
  LB_RETURN_IF_ERROR(options.take("jobs", read.side_by_side, kSideBySideMax));
  LB_RETURN_IF_ERROR(options.take("keep_going", read.keep_going));
  LB_RETURN_IF_ERROR(options.take("add", read.add));
  LB_RETURN_IF_ERROR(options.take("strict", read.strict));
  LB_RETURN_IF_ERROR(options.take("name", read.name));
  LB_RETURN_IF_ERROR(options.take("package_version", read.version));
  LB_RETURN_IF_ERROR(options.take("source", read.source));
  LB_RETURN_IF_ERROR(options.take("revision", read.revision));
  LB_RETURN_IF_ERROR(options.take("license", read.licence));
  LB_RETURN_IF_ERROR(options.take("max_shape", read.pte.max_shapes));
  LB_RETURN_IF_ERROR(options.take("compile_spec", read.pte.compile_specs));
  LB_RETURN_IF_ERROR(options.take("program_model", read.pte.model));
  LB_RETURN_IF_ERROR(options.take("plan_inputs", read.pte.plan_inputs));
  LB_RETURN_IF_ERROR(options.finish());
  return read;
}

JobOutcome run_compile(JobOptions& options, const Runtime& runtime, const Client& client) {
  auto read = read_compile(options);
  if (!read.ok()) return {read.status(), std::nullopt};
  read->names_precision = runtime.precision_given;
  const auto watch = [&client](const CompileStep& step) {
    client.advance("compiling " + core::variant_name(step.job), step.done, step.count);
  };
  CompileReport report = compile(*read, runtime, client, watch);
  std::optional<Json> json;
  if (report.is_complete) json = to_json(report);
  return {std::move(report.failure), std::move(json)};
}

JobOutcome run_devices(JobOptions& options, const Runtime& runtime, const Client& /*client*/) {
  bool virtual_too = false;
  Status status = options.take("virtual", virtual_too);
  if (status.ok()) status = options.finish();
  if (!status.ok()) return {std::move(status), std::nullopt};
  return {Status(), to_json(list_devices(runtime.registry, virtual_too))};
}

JobOutcome run_doctor(JobOptions& options, const Runtime& runtime, const Client& client) {
  if (Status status = options.finish(); !status.ok()) return {std::move(status), std::nullopt};
  return outcome_of(examine(runtime.registry, client));
}

JobOutcome run_export(JobOptions& options, const Runtime& /*runtime*/, const Client& client) {
  ExportOptions read;
  Status status = options.require("model", read.model);
  if (status.ok()) status = options.require("output", read.output);
  if (status.ok()) status = options.take("hidden_states", read.hidden_states);
  if (status.ok()) status = options.finish();
  if (!status.ok()) return {std::move(status), std::nullopt};
  const ExportReport report = export_onnx(read, client);
  return {report.failure, report.failure.ok() ? std::optional(to_json(report)) : std::nullopt};
}

JobOutcome run_inspect(JobOptions& options, const Runtime& runtime, const Client& client) {
  InspectOptions read;
  std::string place;
  bool explain = false;
  Status status = options.require("bundle", place);
  if (status.ok()) status = options.take("verify", read.verify);
  if (status.ok()) status = options.take("explain", explain);
  if (status.ok()) status = options.take("installed", read.installed);
  if (status.ok()) status = options.finish();
  if (!status.ok()) return {std::move(status), std::nullopt};
  read.place = platform::path_from_utf8(place);
  return outcome_of(inspect(read, explain ? &runtime : nullptr, client));
}

JobOutcome run_pull(JobOptions& options, const Runtime& /*runtime*/, const Client& client) {
  std::string model;
  Status status = options.require("model", model);
  if (status.ok()) status = options.finish();
  if (!status.ok()) return {std::move(status), std::nullopt};
  const auto name = embedding::hub::ModelName::parse(model);
  return name.ok() ? outcome_of(pull(*name, client)) : JobOutcome{name.status(), std::nullopt};
}

JobOutcome run_unpack(JobOptions& options, const Runtime& /*runtime*/, const Client& client) {
  std::string bundle;
  std::string output;
  Status status = options.require("bundle", bundle);
  if (status.ok()) status = options.require("output", output);
  if (status.ok()) status = options.finish();
  if (!status.ok()) return {std::move(status), std::nullopt};
  const UnpackReport report = unpack(bundle, output, client);
  return {report.failure, report.failure.ok() ? std::optional(to_json(report)) : std::nullopt};
}

JobOutcome run_warm(JobOptions& options, const Runtime& runtime, const Client& client) {
  std::string model;
  Status status = options.require("model", model);
  if (status.ok()) status = options.finish();
  if (!status.ok()) return {std::move(status), std::nullopt};
  return outcome_of(warm(model, runtime, client));
}

constexpr std::array kJobs{
    NamedJob{"cache_clear", "{}", "{entries, bytes}: what was removed", run_cache_clear},
    NamedJob{"cache_list", "{}", "as `latebind cache list --json`", run_cache_list},
    NamedJob{"cache_verify", "{}", "as `latebind cache verify --json`", run_cache_verify},
    NamedJob{
        "compile",
        "{model, output, target: [\"cpu\", \"npu:v73\"], shapes: [\"auto\"], format, jobs, keep_going, add, "
        "strict, name, package_version, source, revision, license, max_shape: [], compile_spec: [], program_model, "
        "plan_inputs}",
        "as `latebind compile --json`, also of one that failed", run_compile},
    NamedJob{"devices", "{virtual}", "as `latebind devices --json`", run_devices},
    NamedJob{"doctor", "{}", "as `latebind doctor --json`", run_doctor},
    NamedJob{"export", "{model, output, hidden_states}", "{file}", run_export},
    NamedJob{"inspect", "{bundle, verify, explain, installed}", "as `latebind inspect --json`", run_inspect},
    NamedJob{"pull", "{model}", "as `latebind pull --json`", run_pull},
    NamedJob{"unpack", "{bundle, output}", "{folder}", run_unpack},
    NamedJob{"warm", "{model}", "as `latebind warm --json`", run_warm}};

}  // namespace

std::span<const NamedJob> job_table() {
  return kJobs;
}

const NamedJob* find_job(std::string_view name) {
  for (const NamedJob& job : kJobs) {
    if (job.name == name) return &job;
  }
  return nullptr;
}

Status unknown_job_error(std::string_view name) {
  std::vector<std::string_view> known;
  for (const NamedJob& job : kJobs)
    known.push_back(job.name);
  return core::unknown_word_error("job", name, known);
}

}  // namespace latebind::app
