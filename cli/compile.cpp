// latebind compile: one file with a model for every device that it may meet.
#include "core/bundle/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/byte_sink.h"
#include "cli/compile_input.h"
#include "cli/compile_options.h"
#include "cli/compile_output.h"
#include "cli/compile_place.h"
#include "cli/compile_plan.h"
#include "cli/json_text.h"
#include "cli/messages.h"
#include "cli/parser.h"
#include "core/bundle/bundle_model.h"
#include "core/platform/folders.h"

namespace latebind::cli {
namespace {

using core::CompileJob;
using core::CompileOutcome;
using core::Status;
using core::StatusCode;

std::string summary_of(const CompileJob& job, const CompileOutcome& outcome) {
  if (!outcome.status.ok()) {
    return fmt::format("{}: failed after {:.1f} s: {}", core::variant_name(job), outcome.seconds,
                       outcome.status.to_string());
  }
  return fmt::format("{}: {:.1f} MB in {:.1f} s by {} {}{}", core::variant_name(job),
                     static_cast<double>(outcome.blob->bytes.bytes.size()) / 1e6, outcome.seconds,
                     outcome.blob->backend, outcome.blob->runtime_version,
                     outcome.note.empty() ? "" : "; " + outcome.note);
}

std::string for_programs(const CompileOptions& options, const std::vector<CompileJob>& jobs,
                         const std::vector<CompileOutcome>& outcomes, const std::vector<Status>& refused,
                         bool written) {
  Json json;
  json["output"] = written ? Json(options.output) : Json();
  json["variants"] = Json::array();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Json one;
    one["name"] = core::variant_name(jobs[i]);
    one["target"] = jobs[i].target.text;
    one["device"] = jobs[i].target.device.id();
    one["compiled"] = outcomes[i].blob.has_value();
    one["bytes"] = outcomes[i].blob ? outcomes[i].blob->bytes.bytes.size() : 0;
    one["seconds"] = rounded(outcomes[i].seconds, 3);
    one["reason"] = reason_of(outcomes[i].status);
    one["note"] = outcomes[i].note;
    json["variants"].push_back(std::move(one));
  }
  json["refused"] = Json::array();
  for (const Status& status : refused)
    json["refused"].push_back(reason_of(status));
  return to_text(json);
}

Exit tell_end(const CompileOptions& options, const std::vector<CompileJob>& jobs,
              const std::vector<CompileOutcome>& outcomes, const std::vector<Status>& refused, bool written,
              const Status& failure) {
  if (options.json) {
    const auto printed = print(for_programs(options, jobs, outcomes, refused, written));
    if (!printed.ok()) return fail(printed);
  }
  for (const Status& status : refused)
    note(status.to_string());
  if (!written) return fail(failure.ok() ? Status(StatusCode::kNoDevice, "nothing could be compiled") : failure);
  if (!options.quiet) note(fmt::format("wrote {}", options.output));
  return Exit::kGood;
}

// What in the line is of no use to a program that keeps what its delegate was given, or "".
std::string check_unchanged(const CompileOptions& options) {
  if (!options.targets.empty()) return "--target compiles a model: say with --model which one the program gets";
  const std::pair<const char*, bool> given[] = {{"--shapes", options.shapes != std::vector<std::string>{kAutoShapes}},
                                                {"--precision", options.runtime.flags.has("precision")},
                                                {"--name", !options.name.empty()},
                                                {"--package-version", !options.version.empty()},
                                                {"--source", !options.source.empty()},
                                                {"--revision", !options.revision.empty()},
                                                {"--license", !options.licence.empty()}};
  for (const auto& [option, is_given] : given) {
    if (is_given) return fmt::format("{} is of a bundle: say with --model which model the program gets", option);
  }
  return "";
}

// What in the line does not go with the format, or "".
std::string check_formats(const CompileOptions& options, bool is_program) {
  const std::string given = options.pte.given();
  if (options.format != CompileFormat::kPte) {
    if (is_program) return "MODEL is a program of ExecuTorch: --format pte converts it";
    if (options.targets.empty()) return "--target is required: what to compile for, such as cpu";
    return given.empty() ? "" : fmt::format("{} goes with --format pte alone", given);
  }
  if (!is_program) {
    return options.pte.model.empty() ? "" : "--model goes with a MODEL that is a program of ExecuTorch (.pte)";
  }
  if (options.add) return "--add makes a bundle: it does not go with a program of ExecuTorch";
  if (!given.empty() && given != "--model")
    return given + " does not go with a program that is converted: it keeps its own";
  return options.pte.model.empty() ? check_unchanged(options) : "";
}

// Whether the line makes sense, and what it reads is there; kGood to go on.
Exit check_line(const CompileOptions& options, const Runtime& runtime, bool is_program) {
  if (const auto status = check_shapes(options); !status.ok()) return misuse("compile", status.message());
  if (options.add && options.format == CompileFormat::kBlob) {
    return misuse("compile", "--add makes a bundle: --format blob does not go with it");
  }
  if (const auto status = check_output(options, is_program); !status.ok()) return misuse("compile", status.message());
  if (const auto status = check_input("MODEL", options.model); !status.ok()) return fail(status);
  if (const auto wrong = check_formats(options, is_program); !wrong.empty()) return misuse("compile", wrong);
  if (options.format == CompileFormat::kPte) {
    if (const auto status = check_pte_options(options.pte, options.runtime, runtime); !status.ok()) {
      return status.code() == StatusCode::kUnsupported ? fail(status) : misuse("compile", status.message());
    }
  }
  if (options.pte.model.empty()) return Exit::kGood;
  const auto status = check_input("--model", options.pte.model);
  return status.ok() ? Exit::kGood : fail(status);
}

Exit compile(const CompileOptions& options) {
  const auto runtime = Runtime::make(options.runtime, core::PerformanceHint::kThroughput);
  if (!runtime.ok()) return misuse("compile", runtime.status().message());
  const auto source = platform::path_from_utf8(options.model);
  const bool is_program = is_pte(source);
  if (const Exit exit = check_line(options, *runtime, is_program); exit != Exit::kGood) return exit;
  if (is_program && options.pte.model.empty()) {
    if (const auto status = convert_pte(platform::path_from_utf8(options.output), source, nullptr); !status.ok()) {
      return fail(status);
    }
    return tell_end(options, {}, {}, {}, true, {});
  }
  // A bundle is put into a program as it is; nothing of it is written over.
  const std::string& model = is_program ? options.pte.model : options.model;
  const bool is_bundle = options.format == CompileFormat::kPte && core::is_bundle(platform::path_from_utf8(model));
  const auto input = read_compile_input(model, options.add || is_bundle);
  if (!input.ok()) return fail(input.status());
  if (const auto status = check_output_of(*input, options.output); !status.ok()) {
    return misuse("compile", status.message());
  }
  if (const auto status = check_head(options, *input); !status.ok()) return misuse("compile", status.message());
  std::vector<Status> refused;
  const auto jobs = plan_compile(options, *runtime, *input, refused);
  if (!jobs.ok()) return fail(jobs.status());
  if (options.format == CompileFormat::kBlob && jobs->size() != 1) {
    return misuse("compile", fmt::format("--format blob takes one target and one shape, these are {}", jobs->size()));
  }

  core::CompileRun run;
  run.side_by_side = side_by_side(options, *input);
  run.strict = options.strict || runtime->load.strict;
  run.keep_going = options.keep_going;
  std::size_t done = 0;
  run.tell = [&](std::size_t job, const CompileOutcome* outcome) {
    if (outcome == nullptr) {
      if (!options.quiet) note(fmt::format("compiling {}", core::variant_name((*jobs)[job])));
      return;
    }
    ++done;
    if (options.quiet && outcome->status.ok() && outcome->note.empty()) return;
    note(fmt::format("[{}/{}] {}", done, jobs->size(), summary_of((*jobs)[job], *outcome)));
  };
  const auto outcomes = core::compile_all(input->model, *jobs, run);

  Status failure;
  for (const CompileOutcome& outcome : outcomes) {
    if (failure.ok() && outcome.status.code() != StatusCode::kCancelled) failure = outcome.status;
  }
  const bool any = std::ranges::any_of(outcomes, [](const auto& outcome) { return outcome.blob.has_value(); });
  const bool usable = options.keep_going ? any || options.targets.empty() : failure.ok();
  if (usable) {
    if (const auto written = write_compiled(options, *runtime, *input, *jobs, outcomes); !written.ok())
      return fail(written);
  }
  return tell_end(options, *jobs, outcomes, refused, usable, failure);
}

}  // namespace

void add_compile(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<CompileOptions>();
  CLI::App& app = *program.add_subcommand(
      "compile", "Compiles a model for devices that need not be here, into one file with the portable model.");
  app.add_option(
         "model", options->model,
         "Folder of an embedding model, its name on the hub (ORG/NAME), an ONNX file or an OpenVINO IR (.xml); "
         "with --add a bundle; with --format pte also a bundle, or a program of ExecuTorch (.pte) that is converted.")
      ->required()
      ->type_name("MODEL");
  add_texts(app, "--target", options->targets, "T,T,...",
            "What to compile for: cpu, npu:ARCHITECTURE such as npu:v73 or npu:4000, or a device's full name. "
            "`latebind devices --virtual` lists them. Required but for --format pte.")
      ->delimiter(',');
  add_texts(app, "--shapes", options->shapes, "SHAPES",
            "Input shapes, such as 1x32,1x128; buckets: those of embedding.buckets; dynamic: as the model declares "
            "them; auto: buckets when the model embeds text, else dynamic. A model that embeds text gets them on NPUs "
            "alone: other devices take any length.")
      ->delimiter(',');
  add_word(app, "--format", options->format,
           "bundle: one file, a ZIP; folder: the same unpacked; blob: what the vendor's compiler made, alone; pte: a "
           "program for ExecuTorch with the bundle in it. MODEL may be a bundle then.");
  options->pte.add_to(app);
  add_text(
      app, "-o,--output", options->output, "FILE",
      "Where to write; nothing that is read is written over, and no folder but one with a bundle of ours and nothing "
      "else in it. It appears only when it is complete.")
      ->required();
  add_integer(app, "--jobs", options->jobs, 1, kSideBySideMax,
              "How many are compiled at once; as many as processors and half of the free memory allow, if not given.");
  app.add_flag("--strict", options->strict, "Nodes that a compiler leaves to the CPU are an error.");
  app.add_flag("--keep-going", options->keep_going,
               "Writes what could be compiled, though a target failed or has no compiler here.");
  app.add_flag(
      "--add", options->add,
      "MODEL is a bundle: what is in it is kept, and what is compiled from its portable model is added, instead "
      "of a variant of the same name. FILE may be the bundle itself, but not on Windows.");
  add_text(app, "--name", options->name, "TEXT", "The package's name; the model's own, if not given.");
  add_text(app, "--package-version", options->version, "TEXT", "The package's version.");
  add_text(app, "--source", options->source, "TEXT", "Where the model comes from, for the package's metadata.");
  add_text(app, "--revision", options->revision, "TEXT", "Its revision there.");
  add_text(app, "--license", options->licence, "TEXT", "Its licence; what its README says, if not given.");
  app.add_flag("-q,--quiet", options->quiet, "Says nothing but errors.");
  app.add_flag("--json", options->json,
               "Prints {output, variants: [{name, target, device, compiled, bytes, seconds, reason, note}], refused}.");
  static constexpr SettingGroup kGroups[] = {SettingGroup::kDevice, SettingGroup::kLibraries};
  options->runtime.add_to(app, kGroups);
  app.footer(
      "The precision is f32 on CPUs and f16 on NPUs that have nothing else, unless --precision says\n"
      "so. The whole model must go to an NPU: nodes that its compiler leaves to the CPU are named, and\n"
      "with --strict they are an error. The portable model is always in the bundle, so that a machine\n"
      "with another device compiles for itself.\n\n"
      "A program (.pte) has one method, forward, which takes and gives the model's tensors;\n"
      "docs/pte-format.md tells how an application calls it. It runs in ExecuTorch with Latebind's\n"
      "delegate loaded.\n\n"
      "The same input and the same versions give the same bytes, but for ONNX Runtime's blobs for\n"
      "CPUs, parts of which that library writes in an order that changes from run to run.\n\n"
      "Examples:\n"
      "  latebind compile all-MiniLM-L6-v2 --target cpu,npu:4000 -o minilm.lbundle\n"
      "  latebind compile all-MiniLM-L6-v2 --format pte -o minilm.pte\n"
      "  latebind compile old.pte --format pte --model model.onnx --target cpu -o new.pte");
  app.callback([options, &chosen] { chosen = [options] { return compile(*options); }; });
}

}  // namespace latebind::cli
