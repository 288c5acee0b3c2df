#include "cli/terminal/embedder_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/model_source.h"
#include "cli/terminal/client.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/model_argument.h"
#include "cli/terminal/parser.h"
#include "core/platform/files/folders.h"
#include "core/platform/standard_streams.h"
#include "core/text/counted.h"
#include "embedding/comparison.h"

namespace latebind::cli {

using core::Result;

void EmbedderOptions::add_to(Command& app, std::string_view what) {
  add_model(app, model, model_is_argument, std::string(what));
  static constexpr SettingGroup kGroups[] = {
      SettingGroup::kEmbedding,    SettingGroup::kPlacement, SettingGroup::kDevice,  SettingGroup::kFailover,
      SettingGroup::kVerification, SettingGroup::kCache,     SettingGroup::kBackends};
  flags.add_to(app, kGroups);
}

core::Status EmbedderOptions::find_model(const std::string& onnx_file, std::string_view output) {
  LB_ASSIGN_OR_RETURN(const auto folder, app::find_model(model, onnx_file, TerminalClient().client(), output));
  model = platform::path_to_utf8(folder);
  return {};
}

namespace {

// Where a model declares the prompt for this role.
std::string_view said_by(embedding::TextRole role) {
  switch (role) {
    case embedding::TextRole::kQuery:
      return "the model's prompt 'query'";
    case embedding::TextRole::kDocument:
      return "the model's prompt 'document', 'passage' or 'corpus'";
    case embedding::TextRole::kUnspecified:
      break;
  }
  return "default_prompt_name of config_sentence_transformers.json, or the prompt of --role";
}

}  // namespace

void PromptArguments::add_role_to(Command& app) {
  add_word(app, "--role", role,
           "Whether the texts are queries or documents, for a model that treats them differently: with prompts, or "
           "with routes (a router, a multi-vector encoder) (default: the model's default).");
}

void PromptArguments::add_to(Command& app, const std::string& what, const std::string& word) {
  const std::string flag = word.empty() ? "--prompt" : "--" + word + "-prompt";
  Option* const by_text =
      app.add_option(flag, text, fmt::format("Text to put before {}; '' for none (default: {}).", what, said_by(role)))
          ->type_name("TEXT");
  app.add_option(flag + "-name", name, "Name of the model's prompt to use instead (default: none).")
      ->type_name("NAME")
      ->excludes(by_text);
  app.add_option(word.empty() ? "--task" : "--" + word + "-task", task,
                 "Name of the model's task, for a model that has several (default: the role's task).")
      ->type_name("NAME");
}

void add_dimensions(Command& app, std::size_t& dimensions) {
  constexpr std::int64_t kMost = 1 << 20;
  add_integer(app, "--dimensions", dimensions, 1, kMost,
              "Keeps the first N numbers of each vector, for models that were trained for it (Matryoshka). The result "
              "is normalised again if the model normalises (default: all).");
}

void note_dimensions(const embedding::Embedder& embedder, std::size_t dimensions) {
  const bool is_cut = dimensions > 0 && dimensions < embedder.dimension();
  if (!is_cut || !embedder.matryoshka_dimensions().empty()) return;
  note(fmt::format("keeps {} of {} numbers: the model's files do not say that it was trained for fewer", dimensions,
                   embedder.dimension()));
}

void add_text_source(Command& app, TextSource& source, TextIds ids) {
  add_word(
      app, "--input-format", source.format,
      "Format of the input. lines: one text per line; an empty line is an empty text, and a CR at the end of a line "
      "is dropped. jsonl: one JSON object per line. csv: a table whose first row names the columns, separated by "
      "commas, semicolons or tabs; tsv: by tabs. Files that end in .gz are unpacked. Lines must be UTF-8 and at most "
      "64 MiB long (default: by FILE's extension: .jsonl or .ndjson, .csv, .tsv, otherwise lines).");
  add_text(app, "--text-field", source.field, "NAME",
           "Field of the JSON object, or column of the table, that holds the text (default text).");
  if (ids == TextIds::kDropped) return;
  add_text(app, "--id-field", source.id_field, "NAME",
           ids == TextIds::kShown
               ? "Field or column whose string or number is shown with the text. '' for none (default id)."
               : "Field or column whose string or number is written with the vector: as \"id\" in JSON lines, or as a "
                 "line of FILE.ids.jsonl beside npy and f32. '' for none (default id).");
}

void note_files_by_lines(std::size_t files, const TextSource& source) {
  if (files == 0) return;
  note(fmt::format("{} of folders {} no field '{}' and {} read by lines; --text-field names another",
                   core::counted(files, "table or JSON lines file"), files == 1 ? "has" : "have", source.field,
                   files == 1 ? "was" : "were"));
}

Result<TextReader> open_texts(const TextSource& source, TextOption option) {
  auto reader = TextReader::open(source);
  if (option == TextOption::kText && reader.status().code() == core::StatusCode::kNotFound) {
    return core::Status(
        core::StatusCode::kNotFound,
        fmt::format("{}; arguments are names of files, and --text gives a text itself", reader.status().message()));
  }
  if (reader.ok() && source.reads_stdin() && platform::input_stream_is_terminal()) {
    note(fmt::format("reading from the terminal, one text a line; end with {}", platform::input_end_keys()));
  }
  return reader;
}

Result<std::unique_ptr<embedding::Embedder>> open_network(const EmbedderOptions& options, const app::Runtime& runtime,
                                                          std::string_view output, FallbackNote fallback_note) {
  LB_ASSIGN_OR_RETURN(const auto folder,
                      app::find_model(options.model, runtime.onnx_file, TerminalClient().client(), output));
  app::OpenOptions opening;
  if (!output.empty()) opening.outputs.emplace_back(output);
  auto opened = app::open_network(folder, runtime, std::move(opening));
  if (!opened.ok()) return as_model_argument(opened.status(), options.model, options.model_is_argument);
  auto network = *std::move(opened);
  if (fallback_note == FallbackNote::kPrint) note_fallback(*network->attestation());
  return network;
}

Result<std::unique_ptr<embedding::Embedder>> open_comparing(const EmbedderOptions& options, const app::Runtime& runtime,
                                                            std::string_view short_names) {
  LB_ASSIGN_OR_RETURN(const auto place,
                      app::find_model(options.model, runtime.onnx_file, TerminalClient().client(), short_names));
  const auto folder = app::open_folder(place, runtime.onnx_file);
  if (!folder.ok()) return as_model_argument(folder.status(), options.model, options.model_is_argument);
  auto opened = app::open_network(
      *folder, runtime,
      {.outputs = embedding::compared_outputs(folder->documents().outputs), .role = {}, .on_batch = {}});
  if (!opened.ok()) return as_model_argument(opened.status(), options.model, options.model_is_argument);
  note_fallback(*(*opened)->attestation());
  return opened;
}

embedding::EmbedStreamOptions stream_options(const Progress& progress, const PromptArguments& prompt,
                                             std::size_t dimensions) {
  embedding::EmbedStreamOptions options{
      .texts = {.dimensions = dimensions, .role = prompt.role, .prompt = prompt.choice()}};
  if (progress.is_shown()) options.window_texts = 1024;
  return options;
}

std::string summary(const embedding::EmbedStats& stats, double seconds, const embedding::Embedder& embedder) {
  const double time = std::max(seconds, 1e-9);
  const auto attestation = embedder.attestation();
  std::string text = fmt::format("{} in {:.1f} s on {}: {:.1f} texts/s, {:.0f} tokens/s, {:.1f} % padding",
                                 core::counted(stats.texts, "text"), seconds, describe(attestation->active),
                                 static_cast<double>(stats.texts) / time, static_cast<double>(stats.tokens) / time,
                                 100 * stats.padding_ratio());
  if (stats.truncated_texts > 0) {
    text += fmt::format(", {} cut to {}", core::counted(stats.truncated_texts, "text"),
                        core::counted(embedder.max_tokens(), "token"));
  }
  return text;
}

std::string fallback_texts(const embedding::EmbedStats& stats, const core::Attestation& after) {
  if (after.fallback || stats.fallback_texts == 0) return {};
  return fmt::format("{} of {} {} computed by another device, because {} failed", stats.fallback_texts,
                     core::counted(stats.texts, "text"), stats.fallback_texts == 1 ? "was" : "were", after.active.id());
}

void note_fallback_texts(const embedding::EmbedStats& stats, const core::Attestation& after) {
  if (const std::string text = fallback_texts(stats, after); !text.empty()) note("fallback: " + text);
}

}  // namespace latebind::cli
