// latebind run: runs any ONNX or IR model on arrays from files or on random ones.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "app/apart.h"
#include "app/json_text.h"
#include "app/model_source.h"
#include "app/npy.h"
#include "app/run_inputs.h"
#include "cli/data/file_names.h"
#include "cli/data/percentile.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/model_argument.h"
#include "cli/terminal/parser.h"
#include "cli/terminal/runtime_options.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/output_file.h"
#include "core/text/counted.h"
#include "core/text/one_line.h"

namespace latebind::cli {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

struct RunArguments {
  SettingFlags flags{};
  std::string model;
  app::RequestedInputs inputs{.files_option = "--input", .shapes_option = "--shape"};
  std::string output_dir;
  std::size_t repeat = 10;
  bool json = false;
};

struct Output {
  core::TensorInfo declared;
  core::OutputTensor tensor;
  std::string file;  // the file that it was written to, if any
};

struct Outcome {
  std::shared_ptr<const core::Attestation> attestation;
  std::vector<app::RunInput> inputs;
  std::vector<Output> outputs;
  double load_ms = 0;
  double first_ms = 0;
  double p50_ms = 0;
};

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

Result<Outcome> run_model(const RunArguments& options, const app::Runtime& runtime) {
  Outcome outcome;
  LB_ASSIGN_OR_RETURN(const auto model, app::open_model(platform::path_from_utf8(options.model)));
  auto start = std::chrono::steady_clock::now();
  LB_ASSIGN_OR_RETURN(const auto placed, runtime.engine().load(model, runtime.placement, runtime.load));
  outcome.load_ms = ms_since(start);
  outcome.attestation = placed->attestation();
  note_fallback(*outcome.attestation);

  LB_ASSIGN_OR_RETURN(outcome.inputs, app::make_inputs(placed->inputs(), options.inputs));
  std::vector<core::TensorView> views;
  for (const app::RunInput& input : outcome.inputs)
    views.push_back(input.view);
  std::vector<core::OutputTensor> outputs(placed->outputs().size());
  std::vector<double> times;
  for (std::size_t i = 0; i < options.repeat; ++i) {
    start = std::chrono::steady_clock::now();
    LB_RETURN_IF_ERROR(placed->execute(views, outputs));
    times.push_back(ms_since(start));
  }
  const auto loaded_as = std::exchange(outcome.attestation, placed->attestation());
  note_takeover(*loaded_as, *outcome.attestation);
  outcome.first_ms = times.front();
  outcome.p50_ms = percentile(times, 0.5);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outcome.outputs.push_back({placed->outputs()[i], std::move(outputs[i]), {}});
  }
  return outcome;
}

// The files for the outputs, in order.
std::vector<std::filesystem::path> output_files(const std::string& folder, const std::vector<Output>& outputs) {
  std::vector<std::string> names;
  for (const Output& output : outputs)
    names.push_back(output.declared.name);
  std::vector<std::filesystem::path> files;
  for (const std::string& name : safe_file_names(names))
    files.push_back(platform::path_from_utf8(folder) / (name + ".npy"));
  return files;
}

// Rejects outputs that would overwrite an input.
Status check_places(const RunArguments& options, const Outcome& outcome) {
  for (const auto& file : output_files(options.output_dir, outcome.outputs)) {
    const app::NamedPlace output{"--output-dir", platform::path_to_utf8(file)};
    LB_RETURN_IF_ERROR(app::check_apart(output, {"MODEL", options.model}));
    for (const app::RunInput& input : outcome.inputs)
      LB_RETURN_IF_ERROR(app::check_apart_from_file(output, {"--input", input.file}));
  }
  return {};
}

// Writes all outputs before any of them appears.
Status write_outputs(const std::string& folder, std::vector<Output>& outputs) {
  const auto path = platform::path_from_utf8(folder);
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    return Status(StatusCode::kIo, fmt::format("--output-dir: making {} failed: {}", folder, error.message()));
  }
  platform::remove_abandoned_outputs(path);
  const auto places = output_files(folder, outputs);
  std::vector<platform::OutputFile> files;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    LB_ASSIGN_OR_RETURN(auto opened, platform::OutputFile::create(places[i]));
    LB_ASSIGN_OR_RETURN(const std::string bytes, app::npy_bytes(outputs[i].tensor.view()));
    LB_RETURN_IF_ERROR(opened.write(bytes));
    files.push_back(std::move(opened));
    outputs[i].file = platform::path_to_utf8(places[i]);
  }
  for (auto& file : files)
    LB_RETURN_IF_ERROR(file.commit());
  return {};
}

std::string for_people(const RunArguments& options, const Outcome& outcome) {
  std::string text = fmt::format("model   {}\ndevice  {}\n", core::one_line(options.model),
                                 core::one_line(describe(outcome.attestation->active)));
  for (const app::RunInput& input : outcome.inputs) {
    text += fmt::format("input   {}  {} {}", core::one_line(input.declared.name), core::name_of(input.view.type),
                        input.view.shape.to_string());
    if (!(input.declared.shape == input.view.shape)) {
      text += fmt::format(", chosen for {}", input.declared.shape.to_string());
    }
    text += fmt::format("  ({})\n", core::one_line(input.source));
  }
  for (const Output& output : outcome.outputs) {
    text += fmt::format("output  {}  {} {}{}{}\n", core::one_line(output.declared.name),
                        core::name_of(output.tensor.view().type), output.tensor.view().shape.to_string(),
                        output.file.empty() ? "" : "  -> ", core::one_line(output.file));
  }
  text += fmt::format("load {:.1f} ms, first run {:.3f} ms, p50 {:.3f} ms over {}\n", outcome.load_ms, outcome.first_ms,
                      outcome.p50_ms, core::counted(options.repeat, "run"));
  return text;
}

std::string for_programs(const RunArguments& options, const Outcome& outcome) {
  const auto& active = outcome.attestation->active;
  app::Json json;
  json["model"] = options.model;
  json["device"] = active.id();
  json["backend"] = active.backend;
  json["device_full_name"] = active.device_full_name;
  json["runtime_version"] = active.runtime_version;
  json["precision"] = core::word_of(active.precision);
  json["fallback"] = outcome.attestation->fallback;
  json["reason"] = outcome.attestation->reason;
  json["verification"] = outcome.attestation->verification;
  json["load_ms"] = app::rounded(outcome.load_ms, 3);
  json["first_ms"] = app::rounded(outcome.first_ms, 3);
  json["p50_ms"] = app::rounded(outcome.p50_ms, 3);
  json["repeat"] = options.repeat;
  const auto described = [](const core::TensorInfo& declared, const core::TensorView& view) {
    app::Json one;
    one["name"] = declared.name;
    one["type"] = core::name_of(view.type);
    one["declared_shape"] = declared.shape.dims();
    one["shape"] = view.shape.dims();
    return one;
  };
  json["inputs"] = app::Json::array();
  for (const app::RunInput& input : outcome.inputs) {
    app::Json one = described(input.declared, input.view);
    one["source"] = input.source;
    json["inputs"].push_back(std::move(one));
  }
  json["outputs"] = app::Json::array();
  for (const Output& output : outcome.outputs) {
    app::Json one = described(output.declared, output.tensor.view());
    one["file"] = output.file.empty() ? app::Json(nullptr) : app::Json(output.file);
    json["outputs"].push_back(std::move(one));
  }
  return app::to_text(json);
}

Exit run(const RunArguments& options) {
  if (const auto sense = app::check_requested_inputs(options.inputs); !sense.ok())
    return misuse("run", sense.message());
  const auto runtime = make_runtime(options.flags, core::PerformanceHint::kLatency);
  if (!runtime.ok()) return misuse("run", runtime.status().message());
  auto outcome = run_model(options, *runtime);
  if (!outcome.ok()) return fail(outcome.status());
  if (!options.output_dir.empty()) {
    if (const auto apart = check_places(options, *outcome); !apart.ok()) return misuse("run", apart.message());
    const auto written = write_outputs(options.output_dir, outcome->outputs);
    if (!written.ok()) return fail(written);
  }
  const auto printed = print(options.json ? for_programs(options, *outcome) : for_people(options, *outcome));
  return printed.ok() ? Exit::kGood : fail(printed);
}

}  // namespace

void add_run(Command& program, Action& chosen) {
  auto options = std::make_shared<RunArguments>();
  Command& app = *program.add_subcommand("run", "Runs any ONNX or OpenVINO IR model, or a bundle.");
  take_model_from_variable(
      add_text(app, kModelNames, options->model, "FILE",
               "The model: ONNX (.onnx), OpenVINO IR (.xml with its .bin beside it), or a bundle."))
      ->required();
  add_texts(app, "--input", options->inputs.files, "NAME=FILE.npy",
            "Reads input NAME from a NumPy file. May be given several times. Inputs without a file are random: floats "
            "from -1 to 1, integers and booleans 0 or 1.");
  add_texts(app, "--shape", options->inputs.shapes, "NAME=SHAPE",
            "Shape of a random input, such as 1x128 or scalar. May be given several times (default: 1 for each "
            "dimension that the model leaves open).");
  add_integer(app, "--seed", options->inputs.seed, 0, INT64_MAX,
              "Seed of the random inputs (default 0). The same seed produces the same inputs.");
  add_text(app, "--output-dir", options->output_dir, "DIR",
           "Writes each output to DIR/NAME.npy (default: nothing is written). DIR is created if needed; characters of "
           "NAME that a file name cannot contain become _. bf16 is written as f32.");
  add_integer(app, "--repeat", options->repeat, 1, 1000000,
              "Number of runs to time, including the first one (default 10).");
  app.add_flag("--json", options->json,
               "Prints {model, device, backend, device_full_name, runtime_version, precision, "
               "fallback, reason, verification, load_ms, first_ms, p50_ms, repeat, inputs: [{name, type, "
               "declared_shape, shape, source}], outputs: [{name, type, declared_shape, shape, "
               "file}]}; -1 in a declared shape is an open dimension.");
  options->flags.add_to(app, kRuntimeGroups);
  app.footer(
      "Prints the device, all shapes, and the times, in milliseconds, of the load, the first run and\n"
      "the median run.\n"
      "\n"
      "Example:\n"
      "  latebind run net.onnx --input image=cat.npy --output-dir out");
  app.callback([options, &chosen] { chosen = [options] { return run(*options); }; });
}

}  // namespace latebind::cli
