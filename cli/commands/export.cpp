// latebind export: the graph that we build, as an ONNX file for other tools.
#include "embedding/graph/export.h"

#include <fmt/format.h>

#include <memory>

#include "app/apart.h"
#include "app/model_source.h"
#include "cli/terminal/client.h"
#include "cli/terminal/model_argument.h"
#include "cli/terminal/parser.h"
#include "core/platform/folders.h"
#include "embedding/model_folder.h"

namespace latebind::cli {
namespace {

struct ExportArguments {
  std::string model;
  std::string output;
  bool hidden_states = false;
};

Exit export_model(const ExportArguments& options) {
  if (options.output == "-") return misuse("export", "-o -: a model is a file, not output to a pipe: give its name");
  const auto place = app::find_model(options.model, TerminalClient().client());
  if (!place.ok()) return fail(place.status());
  const auto apart = app::check_file_apart({"-o", options.output}, {"--model", platform::path_to_utf8(*place)});
  if (!apart.ok()) return misuse("export", apart.message());
  const auto folder = embedding::ModelFolder::open(*place);
  if (!folder.ok()) return fail(folder.status());
  const auto file = platform::path_from_utf8(options.output);
  const auto written = embedding::write_onnx_file(*folder, {.hidden_states = options.hidden_states}, file);
  if (!written.ok()) return fail(written);
  note(fmt::format("wrote {}", options.output));
  return Exit::kGood;
}

}  // namespace

void add_export(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<ExportArguments>();
  CLI::App& app = *program.add_subcommand("export", "Writes the graph that we build as an ONNX file.");
  add_model(app, options->model, "A sentence-transformers model with model.safetensors");
  add_text(app, "-o,--output", options->output, "FILE.onnx", "File to write; it appears only when it is complete.")
      ->required();
  app.add_flag(
      "--hidden-states", options->hidden_states,
      "Token vectors [batch, tokens, hidden] instead of the pooled vector [batch, hidden] (default: pooled, and "
      "normalised where the folder says so).");
  app.footer(
      "One ONNX file of opset 20 with the weights in it, at most 2 GiB. Inputs input_ids and\n"
      "attention_mask, i64 [batch, tokens]; output sentence_embedding or, with --hidden-states,\n"
      "last_hidden_state. Needs no vendor library.\n\n"
      "Example:\n"
      "  latebind export --model all-MiniLM-L6-v2 -o model.onnx");
  app.callback([options, &chosen] { chosen = [options] { return export_model(*options); }; });
}

}  // namespace latebind::cli
