// latebind compile: compiles a model for several devices into one file.
#include "app/jobs/compile.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/data/node_text.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/client.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/model_argument.h"
#include "cli/terminal/parser.h"
#include "cli/terminal/runtime_options.h"

namespace latebind::cli {
namespace {

struct CompileArguments {
  app::CompileOptions compile{};
  SettingFlags flags{};
  bool quiet = false;
  bool json = false;
};

// Names that differ between the command line and the job.
std::string name_of(std::string_view key, const app::Client& usual) {
  if (key == "model") return "MODEL";
  if (key == "output") return "-o";
  return usual.name(key);
}

std::string summary_of(const core::CompileJob& job, const core::CompileOutcome& outcome) {
  if (!outcome.status.ok()) {
    return fmt::format("{}: failed after {:.1f} s: {}", core::variant_name(job), outcome.seconds,
                       outcome.status.to_string());
  }
  return fmt::format("{}: {:.1f} MB in {:.1f} s by {} {}{}", core::variant_name(job),
                     static_cast<double>(outcome.blob->bytes.bytes.size()) / 1e6, outcome.seconds,
                     outcome.blob->backend, outcome.blob->runtime_version,
                     outcome.note.empty() ? "" : "; " + outcome.note);
}

// Notes the nodes of the model that the target's compiler did not accept, one per line.
void note_left(const core::CompileJob& job, const core::CompileOutcome& outcome) {
  const core::LeftNodes& left = outcome.left;
  if (left.count == 0) return;
  note(fmt::format("{}: what the model has that {} does not take:", core::variant_name(job), job.target.device.id()));
  for (const core::LeftNode& node : left.first)
    note("  " + node_text(node));
  if (left.count > left.first.size()) note(fmt::format("  and {} more", left.count - left.first.size()));
}

void show(const app::CompileStep& step, bool quiet) {
  if (step.outcome == nullptr) {
    if (!quiet) note(fmt::format("compiling {}", core::variant_name(step.job)));
  } else if (!quiet || !step.outcome->status.ok() || !step.outcome->note.empty()) {
    note(fmt::format("[{}/{}] {}", step.done, step.count, summary_of(step.job, *step.outcome)));
    note_left(step.job, *step.outcome);
  }
}

Exit compile(const CompileArguments& options) {
  const auto runtime = make_runtime(options.flags, core::PerformanceHint::kThroughput);
  if (!runtime.ok()) return misuse("compile", runtime.status().message());
  app::CompileOptions what = options.compile;
  what.names_precision = options.flags.has("precision");
  const TerminalClient terminal;
  app::Client client = terminal.client();
  client.name_of = [&](std::string_view key) { return name_of(key, terminal.client()); };
  const auto report =
      app::compile(what, *runtime, client, [&](const app::CompileStep& step) { show(step, options.quiet); });
  if (report.options_are_wrong) return misuse("compile", report.failure.message());
  if (!report.is_complete) return fail(report.failure);
  if (options.json) {
    const auto printed = print(app::to_text(app::to_json(report)));
    if (!printed.ok()) return fail(printed);
  }
  for (const core::Status& status : report.refused)
    note(status.to_string());
  if (!report.written) return fail(report.failure);
  if (!options.quiet) note(fmt::format("wrote {}", what.output));
  return Exit::kGood;
}

void add_program_options(Command& app, app::PteOptions& options) {
  add_texts(app, "--max-shape", options.max_shapes, "NAME=DIMxDIM",
            "For --format pte: the largest shape of an input that the model leaves open, such as ids=8x256, or of an "
            "output whose size depends on the values of the inputs. May be given several times. A model that embeds "
            "text has a default: one text of as many tokens as it takes.");
  add_texts(app, "--compile-spec", options.compile_specs, "KEY=VALUE",
            "For --format pte: a setting that the program passes to the delegate, by its key in `latebind config`: "
            "device, precision, strict, threads, input_shapes and so on. May be given several times. precision is the "
            "value of --precision; without it, f32 followed by the precisions of the bundle's other variants.");
  app.add_flag("--plan-inputs", options.plan_inputs,
               "For --format pte: plans memory for inputs in the method, and ExecuTorch copies them there. Without it, "
               "ExecuTorch passes the caller's memory on.");
  add_text(app, "--program-model", options.model, "MODEL",
           "For --format pte, if MODEL is a program that ExecuTorch made for its own OpenVINO backend: the model that "
           "replaces the blob in it. Without it, the blob stays and runs unchanged.");
}

}  // namespace

void add_compile(Command& program, Action& chosen) {
  auto options = std::make_shared<CompileArguments>();
  Command& app = *program.add_subcommand(
      "compile", "Compiles a model for devices, present or not, into one file with the portable model.");
  take_model_from_variable(
      app.add_option(
          kModelNames, options->compile.model,
          "Folder of an embedding model, its name on the hub (ORG/NAME), an ONNX file or an OpenVINO IR (.xml); "
          "with --add, a bundle; with --format pte, also a bundle, or an ExecuTorch program (.pte) to convert."))
      ->required()
      ->type_name("MODEL");
  add_texts(app, "--target", options->compile.targets, "T,T,...",
            "Targets: cpu, npu:ARCHITECTURE such as npu:v73 or npu:4000, or a device's full name. `latebind devices "
            "--virtual` lists them. Without it, only the portable model is written.")
      ->delimiter(',')
      ->words({"cpu"}, /*is_list=*/true);
  add_texts(
      app, "--shapes", options->compile.shapes, "SHAPES",
      "Input shapes: a list such as 1x32,1x128, each for all inputs, or 2x3+3x4 for one shape per input; static: those "
      "of embedding.static_lengths; dynamic: as the model declares them; auto: static if the model embeds text, "
      "otherwise dynamic. A model that embeds text has static shapes only on devices that need them, such as NPUs.")
      ->delimiter(',')
      ->words({"auto", "dynamic", "static"});
  add_word(app, "--format", options->compile.format,
           "Format of the output. bundle: one ZIP file. folder: the same, unpacked. blob: only the output of the "
           "vendor's compiler. pte: a program for ExecuTorch that contains the bundle; MODEL may then be a bundle.");
  add_program_options(app, options->compile.pte);
  add_text(app, "-o,--output", options->compile.output, "FILE",
           "Where to write. It appears only when it is complete. It must not be an input; an existing folder is "
           "replaced only if it holds nothing but a bundle of Latebind.")
      ->required();
  add_integer(
      app, "--jobs", options->compile.side_by_side, 1, app::kSideBySideMax,
      "Number of parallel compilations (default: as many as the processors and half of the free memory allow).");
  app.add_flag("--strict", options->compile.strict, "Reports an error if a compiler leaves nodes to the CPU.");
  app.add_flag("--keep-going", options->compile.keep_going,
               "Writes the targets that could be compiled even if another one failed or has no compiler here.");
  app.add_flag("--add", options->compile.add,
               "MODEL is a bundle: keeps its content and adds what is compiled from its portable model, replacing "
               "variants of the same name. FILE may be the bundle itself, except on Windows.");
  add_text(app, "--name", options->compile.name, "TEXT", "Name of the package (default: the model's name).");
  add_text(app, "--package-version", options->compile.version, "TEXT", "Version of the package.");
  add_text(app, "--source", options->compile.source, "TEXT", "Origin of the model, for the package's metadata.");
  add_text(app, "--revision", options->compile.revision, "TEXT", "Revision of the model at its origin.");
  add_text(app, "--license", options->compile.licence, "TEXT",
           "Licence of the model (default: the one in its README).");
  app.add_flag("-q,--quiet", options->quiet, "Prints only errors.");
  app.add_flag("--json", options->json,
               "Prints {output, variants: [{name, target, device, compiled, bytes, seconds, reason, note, left_to_cpu: "
               "{count, first: [{operator, name, shape}]}}], refused}.");
  static constexpr SettingGroup kGroups[] = {SettingGroup::kDevice, SettingGroup::kBackends};
  options->flags.add_to(app, kGroups, {"embedding.onnx_file"});
  app.footer(
      "Without --precision, the precision is f32 on CPUs and f16 on NPUs that support only f16. Nodes\n"
      "that an NPU's compiler leaves to the CPU are named; with --strict they are an error. The bundle\n"
      "always contains the portable model, so that a machine with another device compiles it there.\n"
      "\n"
      "A program (.pte) has one method, forward, which takes and returns the model's tensors;\n"
      "docs/pte-format.md explains how an application calls it. It runs in ExecuTorch with Latebind's\n"
      "delegate loaded.\n"
      "\n"
      "The same input and the same versions produce the same bytes, except in ONNX Runtime's blobs for\n"
      "CPUs: that library writes parts of them in an order that changes from run to run.\n"
      "\n"
      "Examples:\n"
      "  latebind compile all-MiniLM-L6-v2 --target cpu,npu:4000 -o minilm.lbundle\n"
      "  latebind compile all-MiniLM-L6-v2 --format pte -o minilm.pte\n"
      "  latebind compile old.pte --format pte --program-model model.onnx --target cpu -o new.pte");
  app.callback([options, &chosen] { chosen = [options] { return compile(*options); }; });
}

}  // namespace latebind::cli
