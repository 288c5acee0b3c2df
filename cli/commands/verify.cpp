// latebind verify: compares the results of two devices.
#include "app/jobs/verify.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/terminal/byte_sink.h"
#include "cli/terminal/client.h"
#include "cli/terminal/model_argument.h"
#include "cli/terminal/parser.h"
#include "cli/terminal/runtime_options.h"
#include "core/text/one_line.h"

namespace latebind::cli {
namespace {

struct VerifyArguments {
  SettingFlags flags{};
  app::VerifyOptions options{
      .model = {}, .against = {}, .inputs = {.files_option = "--input", .shapes_option = "--shape"}};
  bool json = false;
};

std::string for_people(const app::VerifyReport& report) {
  const core::Comparison& comparison = report.comparison;
  std::string text = fmt::format("device   {}\nagainst  {}\n", core::one_line(describe(report.tested.active)),
                                 core::one_line(describe(report.reference.active)));
  std::size_t left_out = 0;
  for (const auto& sample : comparison.samples)
    left_out += sample.left_out.ok() ? 0U : 1U;
  text +=
      fmt::format("samples  {}{}\n", comparison.samples.size() - left_out,
                  left_out == 0 ? "" : fmt::format(", and {} that {} refused", left_out, report.reference.active.id()));
  for (const auto& output : comparison.outputs) {
    const core::Difference& difference = output.difference;
    text += fmt::format(
        "output   {}  {}: largest difference {:.3g}, {:.3g} of the largest number; cosine {:.7f}; NaN "
        "{}, against {}; {}\n",
        core::one_line(output.name), core::name_of(output.type), difference.absolute, difference.relative,
        difference.cosine, difference.nan_count, difference.reference_nan_count,
        output.agrees ? "agrees" : "disagrees");
  }
  text += fmt::format("{}: {}\n", report.agrees() ? "They agree" : "They disagree", core::one_line(comparison.text()));
  return text;
}

Exit verify(const VerifyArguments& arguments) {
  if (const auto sense = app::check_requested_inputs(arguments.options.inputs); !sense.ok()) {
    return misuse("verify", sense.message());
  }
  const auto runtime = make_runtime(arguments.flags, core::PerformanceHint::kLatency);
  if (!runtime.ok()) return misuse("verify", runtime.status().message());
  const TerminalClient terminal;
  const auto report = app::verify(arguments.options, *runtime, terminal.client());
  if (!report.ok()) return fail(report.status());
  note_fallback(report->tested);
  const auto printed = print(arguments.json ? app::to_text(app::to_json(*report)) : for_people(*report));
  if (!printed.ok()) return fail(printed);
  return report->agrees() ? Exit::kGood : Exit::kFailed;
}

}  // namespace

void add_verify(Command& program, Action& chosen) {
  auto arguments = std::make_shared<VerifyArguments>();
  Command& app = *program.add_subcommand("verify", "Compares the results of two devices.");
  take_model_from_variable(
      add_text(
          app, kModelNames, arguments->options.model, "MODEL",
          "A model that embeds text (its folder, a bundle or ORG/NAME on the hub), an ONNX file, or an OpenVINO IR."))
      ->required();
  add_texts(app, "--input", arguments->options.inputs.files, "NAME=FILE.npy",
            "Reads input NAME from a NumPy file, instead of generating several samples. May be given several times.");
  add_texts(
      app, "--shape", arguments->options.inputs.shapes, "NAME=SHAPE",
      "Shape of one random input, such as 1x128 or scalar, instead of several samples. May be given several times.");
  add_integer(app, "--seed", arguments->options.inputs.seed, 0, INT64_MAX,
              "Seed of the random inputs of --input and --shape (default 0).");
  app.add_flag("--json", arguments->json,
               "Prints {agrees, verdict, tested: {device, device_full_name, runtime_version, precision, fallback, "
               "reason}, against: {device, device_full_name, runtime_version, precision}, bounds: {relative_most, "
               "cosine_least, different_most}, failure, samples: [{name, shapes, left_out}], outputs: [{name, type, "
               "agrees, why, elements, absolute, relative, cosine, nan, nan_against, non_finite_apart, different}]}.");
  static constexpr SettingGroup kGroups[] = {SettingGroup::kPlacement, SettingGroup::kDevice, SettingGroup::kFailover,
                                             SettingGroup::kCache, SettingGroup::kBackends};
  arguments->flags.add_to(app, kGroups, {"verification.against", "embedding.onnx_file"});
  app.footer(
      "Runs the same inputs on the first device of --device that can load the model, and on --against in\n"
      "f32. The inputs are random, as the model declares them, in several shapes if dimensions are open;\n"
      "a model that embeds text gets a few dozen sentences and random token ids. The tolerance depends on\n"
      "the device's precision: docs/verifying.md has the table. If two devices disagree, compare with a\n"
      "third one to find out which of them is wrong.\n"
      "\n"
      "The exit status is 0 if they agree, 1 if they disagree or nothing could be compared.\n"
      "\n"
      "Examples:\n"
      "  latebind verify sentence-transformers/all-MiniLM-L6-v2 --device npu\n"
      "  latebind verify net.onnx --device openvino:CPU --against onnxruntime:CPU");
  app.callback([arguments, &chosen] { chosen = [arguments] { return verify(*arguments); }; });
}

}  // namespace latebind::cli
