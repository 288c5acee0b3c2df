#include "app/job_table.h"

#include <array>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "app/jobs/backends.h"
#include "app/jobs/cache.h"
#include "app/jobs/compile.h"
#include "app/jobs/devices.h"
#include "app/jobs/doctor.h"
#include "app/jobs/export.h"
#include "app/jobs/inspect.h"
#include "app/jobs/pull.h"
#include "app/jobs/unpack.h"
#include "app/jobs/verify.h"
#include "app/jobs/warm.h"
#include "app/model_source.h"
#include "core/cache/compile_store.h"
#include "core/platform/files/folders.h"
#include "embedding/outputs/output.h"

namespace latebind::app {
namespace {

using core::Result;
using core::Status;

// Adapts a function that returns a report or an error.
template <Result<Json> (*Run)(JobArguments& arguments, const Runtime& runtime, const Client& client)>
JobOutcome either(JobArguments& arguments, const Runtime& runtime, const Client& client) {
  auto report = Run(arguments, runtime, client);
  if (!report.ok()) return {report.status(), std::nullopt};
  return {Status(), *std::move(report)};
}

// Runs `Use` on the cache that the settings name.
template <auto Use>
Result<Json> with_cache(JobArguments& arguments, const Runtime& runtime, const Client& /*client*/) {
  LB_RETURN_IF_ERROR(arguments.finish());
  LB_ASSIGN_OR_RETURN(const auto store, open_cache(runtime.settings));
  LB_ASSIGN_OR_RETURN(const auto report, std::invoke(Use, *store));
  return to_json(report);
}

Result<Json> run_backends(JobArguments& arguments, const Runtime& runtime, const Client& client) {
  bool retry = false;
  LB_RETURN_IF_ERROR(arguments.take("retry", retry));
  LB_RETURN_IF_ERROR(arguments.finish());
  LB_ASSIGN_OR_RETURN(const auto listing,
                      list_backends(runtime.registry, runtime.effective.of_backends(), retry, client));
  return to_json(listing);
}

Result<Json> run_backends_add(JobArguments& arguments, const Runtime& runtime, const Client& client) {
  std::string file;
  LB_RETURN_IF_ERROR(arguments.require("file", file));
  LB_RETURN_IF_ERROR(arguments.finish());
  LB_ASSIGN_OR_RETURN(const auto added, add_backend(file, runtime.effective.of_backends(), client));
  return to_json(added);
}

Result<Json> run_backends_rm(JobArguments& arguments, const Runtime& runtime, const Client& /*client*/) {
  std::string name;
  LB_RETURN_IF_ERROR(arguments.require("name", name));
  LB_RETURN_IF_ERROR(arguments.finish());
  LB_ASSIGN_OR_RETURN(const auto removed, remove_backend(name, runtime.effective.of_backends()));
  return to_json(removed);
}

Result<CompileOptions> read_compile(JobArguments& arguments) {
  CompileOptions read;
  LB_RETURN_IF_ERROR(arguments.require("model", read.model));
  LB_RETURN_IF_ERROR(arguments.require("output", read.output));
  LB_RETURN_IF_ERROR(arguments.take("target", read.targets));
  LB_RETURN_IF_ERROR(arguments.take("shapes", read.shapes));
  LB_RETURN_IF_ERROR(arguments.take_word("format", read.format));
  LB_RETURN_IF_ERROR(arguments.take("jobs", read.side_by_side, kSideBySideMax));
  LB_RETURN_IF_ERROR(arguments.take("keep_going", read.keep_going));
  LB_RETURN_IF_ERROR(arguments.take("add", read.add));
  LB_RETURN_IF_ERROR(arguments.take("strict", read.strict));
  LB_RETURN_IF_ERROR(arguments.take("name", read.name));
  LB_RETURN_IF_ERROR(arguments.take("package_version", read.version));
  LB_RETURN_IF_ERROR(arguments.take("source", read.source));
  LB_RETURN_IF_ERROR(arguments.take("revision", read.revision));
  LB_RETURN_IF_ERROR(arguments.take("license", read.licence));
  LB_RETURN_IF_ERROR(arguments.take("max_shape", read.pte.max_shapes));
  LB_RETURN_IF_ERROR(arguments.take("compile_spec", read.pte.compile_specs));
  LB_RETURN_IF_ERROR(arguments.take("program_model", read.pte.model));
  LB_RETURN_IF_ERROR(arguments.take("plan_inputs", read.pte.plan_inputs));
  LB_RETURN_IF_ERROR(arguments.finish());
  return read;
}

// A failed compilation may have a report, too.
JobOutcome run_compile(JobArguments& arguments, const Runtime& runtime, const Client& client) {
  auto read = read_compile(arguments);
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

Result<Json> run_devices(JobArguments& arguments, const Runtime& runtime, const Client& /*client*/) {
  bool virtual_too = false;
  LB_RETURN_IF_ERROR(arguments.take("virtual", virtual_too));
  LB_RETURN_IF_ERROR(arguments.finish());
  return to_json(list_devices(runtime.registry, virtual_too));
}

Result<Json> run_doctor(JobArguments& arguments, const Runtime& runtime, const Client& client) {
  LB_RETURN_IF_ERROR(arguments.finish());
  LB_ASSIGN_OR_RETURN(const Diagnosis diagnosis, examine(runtime.registry, runtime.effective, client));
  return to_json(diagnosis);
}

Result<Json> run_export(JobArguments& arguments, const Runtime& /*runtime*/, const Client& client) {
  ExportOptions read;
  LB_RETURN_IF_ERROR(arguments.require("model", read.model));
  LB_RETURN_IF_ERROR(arguments.require("output", read.output));
  LB_RETURN_IF_ERROR(arguments.take("hidden_states", read.hidden_states));
  LB_RETURN_IF_ERROR(arguments.finish());
  LB_RETURN_IF_ERROR(export_onnx(read, client).failure);
  return Json{{"file", read.output}};
}

// Returns the output of the models that are called by this word: "score" for "cross-encoder". Without a word, "".
Result<std::string_view> output_of_models(std::string_view word) {
  if (word.empty()) return std::string_view();
  std::vector<std::string_view> known;
  for (const embedding::OutputKind* const kind : embedding::output_kinds()) {
    if (kind->input == nullptr) continue;
    if (kind->model == word) return kind->name;
    known.push_back(kind->model);
  }
  return core::unknown_word_error("kind of model", word, known).with_context("kind");
}

Result<Json> run_find(JobArguments& arguments, const Runtime& runtime, const Client& client) {
  std::string model;
  std::string kind;
  LB_RETURN_IF_ERROR(arguments.require("model", model));
  LB_RETURN_IF_ERROR(arguments.take("kind", kind));
  LB_RETURN_IF_ERROR(arguments.finish());
  LB_ASSIGN_OR_RETURN(const std::string_view output, output_of_models(kind));
  LB_ASSIGN_OR_RETURN(const auto place, find_model(model, runtime.onnx_file, client, output));
  Json report;
  report["folder"] = platform::path_to_utf8(place);
  return report;
}

Result<Json> run_inspect(JobArguments& arguments, const Runtime& runtime, const Client& client) {
  InspectOptions read;
  std::string place;
  bool explain = false;
  LB_RETURN_IF_ERROR(arguments.require("bundle", place));
  LB_RETURN_IF_ERROR(arguments.take("verify", read.verify));
  LB_RETURN_IF_ERROR(arguments.take("explain", explain));
  LB_RETURN_IF_ERROR(arguments.take("installed", read.installed));
  LB_RETURN_IF_ERROR(arguments.finish());
  read.place = platform::path_from_utf8(place);
  LB_ASSIGN_OR_RETURN(const InspectReport report, inspect(read, explain ? &runtime : nullptr, client));
  return to_json(report);
}

Result<Json> run_pull(JobArguments& arguments, const Runtime& runtime, const Client& client) {
  std::string model;
  bool force = false;
  LB_RETURN_IF_ERROR(arguments.require("model", model));
  LB_RETURN_IF_ERROR(arguments.take("force", force));
  LB_RETURN_IF_ERROR(arguments.finish());
  LB_ASSIGN_OR_RETURN(const auto name, embedding::hub::ModelName::parse(model));
  LB_ASSIGN_OR_RETURN(const PullReport report, pull(name, force, runtime.onnx_file, client));
  return to_json(report);
}

Result<Json> run_unpack(JobArguments& arguments, const Runtime& /*runtime*/, const Client& client) {
  std::string bundle;
  std::string output;
  LB_RETURN_IF_ERROR(arguments.require("bundle", bundle));
  LB_RETURN_IF_ERROR(arguments.require("output", output));
  LB_RETURN_IF_ERROR(arguments.finish());
  LB_RETURN_IF_ERROR(unpack(bundle, output, client).failure);
  return Json{{"folder", output}};
}

Result<Json> run_verify(JobArguments& arguments, const Runtime& runtime, const Client& client) {
  VerifyOptions read;
  unsigned seed = 0;
  LB_RETURN_IF_ERROR(arguments.require("model", read.model));
  LB_RETURN_IF_ERROR(arguments.take("against", read.against));
  LB_RETURN_IF_ERROR(arguments.take("input", read.inputs.files));
  LB_RETURN_IF_ERROR(arguments.take("shape", read.inputs.shapes));
  LB_RETURN_IF_ERROR(arguments.take("seed", seed, std::numeric_limits<unsigned>::max()));
  LB_RETURN_IF_ERROR(arguments.finish());
  read.inputs.seed = seed;
  LB_ASSIGN_OR_RETURN(const VerifyReport report, verify(read, runtime, client));
  return to_json(report);
}

Result<Json> run_warm(JobArguments& arguments, const Runtime& runtime, const Client& client) {
  std::string model;
  LB_RETURN_IF_ERROR(arguments.require("model", model));
  LB_RETURN_IF_ERROR(arguments.finish());
  LB_ASSIGN_OR_RETURN(const WarmReport report, warm(model, runtime, client));
  return to_json(report);
}

constexpr std::array kJobs{
    NamedJob{"backends", "{retry}", "as `latebind backends --json`", either<run_backends>},
    NamedJob{"backends_add", "{file}", "as `latebind backends add --json`", either<run_backends_add>},
    NamedJob{"backends_rm", "{name}", "as `latebind backends rm --json`", either<run_backends_rm>},
    NamedJob{"cache_clear", "{}", "{entries, bytes}: what was removed", either<with_cache<&core::CompileStore::clear>>},
    NamedJob{"cache_list", "{}", "as `latebind cache list --json`", either<with_cache<list_cache>>},
    NamedJob{"cache_verify", "{}", "as `latebind cache verify --json`", either<with_cache<verify_cache>>},
    NamedJob{
        "compile",
        "{model, output, target: [\"cpu\", \"npu:v73\"], shapes: [\"auto\"], format, jobs, keep_going, add, "
        "strict, name, package_version, source, revision, license, max_shape: [], compile_spec: [], program_model, "
        "plan_inputs}",
        "as `latebind compile --json`, also if it failed", run_compile},
    NamedJob{"devices", "{virtual}", "as `latebind devices --json`", either<run_devices>},
    NamedJob{"doctor", "{}", "as `latebind doctor --json`", either<run_doctor>},
    NamedJob{"export", "{model, output, hidden_states}", "{file}", either<run_export>},
    NamedJob{"find", "{model, kind}",
             "{folder}: the folder of a model named on the hub, which is downloaded if the cache lacks it; a path is "
             "returned unchanged. kind resolves short names: embedder, cross-encoder, sparse encoder or multi-vector "
             "encoder",
             either<run_find>},
    NamedJob{"inspect", "{bundle, verify, explain, installed}", "as `latebind inspect --json`", either<run_inspect>},
    NamedJob{"pull", "{model, force}", "as `latebind pull --json`", either<run_pull>},
    NamedJob{"unpack", "{bundle, output}", "{folder}", either<run_unpack>},
    NamedJob{"verify", "{model, against, input: [\"x=x.npy\"], shape: [\"x=1x128\"], seed}",
             "as `latebind verify --json`, also if they disagree", either<run_verify>},
    NamedJob{"warm", "{model}", "as `latebind warm --json`", either<run_warm>}};

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
