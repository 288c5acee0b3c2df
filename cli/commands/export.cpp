// latebind export: writes the graph that Latebind builds as an ONNX file.
#include "app/jobs/export.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "cli/terminal/client.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/model_argument.h"
#include "cli/terminal/parser.h"

namespace latebind::cli {
namespace {

struct ExportArguments {
  std::string model;
  bool model_is_argument = false;
  std::string output;
  bool hidden_states = false;
};

Exit export_model(const ExportArguments& options) {
  const TerminalClient terminal;
  app::Client client = terminal.client();
  client.name_of = [](std::string_view key) { return std::string(key == "output" ? "-o" : "MODEL"); };
  const auto placed = app::export_onnx({options.model, options.output, options.hidden_states}, client);
  if (placed.options_are_wrong) return misuse("export", placed.failure.message());
  if (!placed.failure.ok()) return fail(placed.failure);
  note(fmt::format("wrote {}", options.output));
  return Exit::kGood;
}

}  // namespace

void add_export(Command& program, Action& chosen) {
  auto options = std::make_shared<ExportArguments>();
  Command& app = *program.add_subcommand("export", "Writes the model as an ONNX file.");
  add_model(app, options->model, options->model_is_argument, "A sentence-transformers model with model.safetensors");
  add_text(app, "-o,--output", options->output, "FILE.onnx", "File to write. It appears only when it is complete.")
      ->required();
  app.add_flag("--hidden-states", options->hidden_states,
               "Outputs token vectors [batch, tokens, hidden] instead of the pooled vector [batch, hidden] (default: "
               "pooled, and normalised if the folder says so).");
  app.footer(
      "The output is one ONNX file of opset 20 that contains the weights, at most 2 GiB. Its inputs are\n"
      "input_ids and attention_mask, i64 [batch, tokens], and token_type_ids if a cross-encoder takes\n"
      "them. Its output is sentence_embedding, or last_hidden_state with --hidden-states; logits for a\n"
      "cross-encoder, term_logits for a sparse encoder. It needs no vendor library.\n"
      "\n"
      "Example:\n"
      "  latebind export all-MiniLM-L6-v2 -o model.onnx");
  app.callback([options, &chosen] { chosen = [options] { return export_model(*options); }; });
}

}  // namespace latebind::cli
