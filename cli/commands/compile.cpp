// latebind compile: compiles a model for several devices into one file.
#include "app/jobs/compile.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/data/node_text.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/client.h"
#include "cli/terminal/messages.h"
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
  add_texts(
      app, "--max-shape", options.max_shapes, "NAME=DIMxDIM",
      "For --format pte: the largest shape of an input that the model leaves open, as ids=8x256, and of an output "
      "whose size depends on what is in the inputs. May be given several times. A model that embeds text has one "
      "unless it is given: one text of as many tokens as it takes.");
  add_texts(
      app, "--compile-spec", options.compile_specs, "KEY=VALUE",
      "For --format pte: what the program tells the delegate, by the keys of `latebind config`: device, precision, "
      "strict, threads, input_shapes and so on. May be given several times. precision is that of --precision if that "
      "is given, else f32 and then what the bundle's other variants compute in.");
  app.add_flag("--plan-inputs", options.plan_inputs,
               "For --format pte: inputs get a place in the method's own memory, and ExecuTorch copies them there; "
               "otherwise it passes the caller's memory on.");
  add_text(
      app, "--program-model", options.model, "MODEL",
      "For --format pte where MODEL is a program that ExecuTorch made for its own OpenVINO backend: the model that "
      "replaces what is in it. Without it, its blob stays and is run as it is.");
}

}  // namespace

void add_compile(Command& program, Action& chosen) {
  auto options = std::make_shared<CompileArguments>();
  Command& app = *program.add_subcommand(
      "compile", "Compiles a model for devices that need not be here, into one file with the portable model.");
  app.add_option(
         kModelNames, options->compile.model,
         "Folder of an embedding model, its name on the hub (ORG/NAME), an ONNX file or an OpenVINO IR (.xml); "
         "with --add a bundle; with --format pte also a bundle, or a program of ExecuTorch (.pte) that is converted.")
      ->required()
      ->type_name("MODEL");
  add_texts(app, "--target", options->compile.targets, "T,T,...",
            "What to compile for: cpu, npu:ARCHITECTURE such as npu:v73 or npu:4000, or a device's full name. "
            "`latebind devices --virtual` lists them. Without it, the portable model alone is written.")
      ->delimiter(',');
  add_texts(
      app, "--shapes", options->compile.shapes, "SHAPES",
      "Input shapes, such as 1x32,1x128, each of them for all inputs, or 2x3+3x4 for one after the other; static: "
      "those of embedding.static_lengths; dynamic: as the model declares them; auto: static when the model embeds "
      "text, else dynamic. A model that embeds text gets them on NPUs alone: other devices take any length.")
      ->delimiter(',');
  add_word(app, "--format", options->compile.format,
           "What is written. bundle: one file, a ZIP; folder: the same unpacked; blob: what the vendor's compiler "
           "made, alone; pte: a "
           "program for ExecuTorch with the bundle in it. MODEL may be a bundle then.");
  add_program_options(app, options->compile.pte);
  add_text(
      app, "-o,--output", options->compile.output, "FILE",
      "Where to write; nothing that is read is written over, and no folder but one with a bundle of ours and nothing "
      "else in it. It appears only when it is complete.")
      ->required();
  add_integer(app, "--jobs", options->compile.side_by_side, 1, app::kSideBySideMax,
              "How many are compiled at once; as many as processors and half of the free memory allow, if not given.");
  app.add_flag("--strict", options->compile.strict, "Nodes that a compiler leaves to the CPU are an error.");
  app.add_flag("--keep-going", options->compile.keep_going,
               "Writes what could be compiled, though a target failed or has no compiler here.");
  app.add_flag(
      "--add", options->compile.add,
      "MODEL is a bundle: what is in it is kept, and what is compiled from its portable model is added, instead "
      "of a variant of the same name. FILE may be the bundle itself, but not on Windows.");
  add_text(app, "--name", options->compile.name, "TEXT", "The package's name; the model's own, if not given.");
  add_text(app, "--package-version", options->compile.version, "TEXT", "The package's version.");
  add_text(app, "--source", options->compile.source, "TEXT", "Where the model comes from, for the package's metadata.");
  add_text(app, "--revision", options->compile.revision, "TEXT", "Its revision there.");
  add_text(app, "--license", options->compile.licence, "TEXT", "Its licence; what its README says, if not given.");
  app.add_flag("-q,--quiet", options->quiet, "Says nothing but errors.");
  app.add_flag("--json", options->json,
               "Prints {output, variants: [{name, target, device, compiled, bytes, seconds, reason, note, left_to_cpu: "
               "{count, first: [{operator, name, shape}]}}], refused}.");
  static constexpr SettingGroup kGroups[] = {SettingGroup::kDevice, SettingGroup::kBackends};
  options->flags.add_to(app, kGroups, {"embedding.onnx_file"});
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
      "  latebind compile old.pte --format pte --program-model model.onnx --target cpu -o new.pte");
  app.callback([options, &chosen] { chosen = [options] { return compile(*options); }; });
}

}  // namespace latebind::cli
