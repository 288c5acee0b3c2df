#include "cli/embed/by_python.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/data/file_kinds.h"
#include "cli/terminal/python_engine.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"

namespace latebind::cli {

using core::Result;
using core::Status;

namespace {

// Whether the Python package can write the output.
bool fits_python(const EmbedArguments& options) {
  switch (options.format) {
    case VectorFormat::kParquet:
      return is_parquet(options.output);
    case VectorFormat::kNpy:
      return ends_in_any(options.output, {".npy"});
    case VectorFormat::kJsonl:
      return !is_packed(options.output) && is_json_lines(options.output);
    default:
      return false;
  }
}

}  // namespace

bool is_for_python(const EmbedArguments& options) {
  return options.format == VectorFormat::kParquet || std::ranges::any_of(options.source.files, is_binary_table);
}

Result<std::vector<std::string>> python_arguments(const EmbedArguments& options) {
  const auto refused = [](std::string what) { return Status(core::StatusCode::kInvalidArgument, std::move(what)); };
  const bool is_stdin =
      options.source.files.empty() || std::ranges::find(options.source.files, "-") != options.source.files.end();
  if (!options.source.texts.empty()) {
    return refused(
        "--text can be written as JSON lines, npy or f32; the Python package, which handles Parquet and Arrow, embeds "
        "files");
  }
  if (!options.outputs.empty()) {
    return refused(
        "--outputs: the Python package, which handles Parquet and Arrow, gives one vector for each text: leave "
        "--outputs out, or embed lines, JSON lines or CSV and write JSON lines or npy: -o vectors.jsonl");
  }
  if (is_stdin) return refused("Parquet cannot be made from stdin: name a FILE");
  if (!fits_python(options)) {
    return refused(
        "the output of Parquet and Arrow files must be a file that ends in .parquet, .npy or .jsonl: name one with -o");
  }
  std::vector<std::string> words{"-o", options.output, "--model", options.embedder.model};
  const auto add = [&words](std::string_view name, std::string value) {
    words.emplace_back(name);
    words.push_back(std::move(value));
  };
  add("--text-column", options.source.field);
  if (options.source.id_field != "id" && !options.source.id_field.empty()) add("--id-column", options.source.id_field);
  if (options.source.format) {
    add("--input-format",
        std::string(*options.source.format == TextFormat::kLines ? "txt" : core::word_of(*options.source.format)));
  } else if (!std::ranges::all_of(options.source.files, is_known_to_python)) {
    if (!are_all_lines(options.source)) {
      return refused(
          "the names of some files say nothing of their format: set --input-format, or embed these by themselves");
    }
    add("--input-format", "txt");
  }
  // Each as one word, because a value may begin with a dash.
  if (options.prompt.text) words.push_back("--prompt=" + *options.prompt.text);
  if (options.prompt.name) words.push_back("--prompt-name=" + *options.prompt.name);
  if (options.prompt.task) words.push_back("--task=" + *options.prompt.task);
  if (options.prompt.role != embedding::TextRole::kUnspecified) {
    add("--role", std::string(core::word_of(options.prompt.role)));
  }
  if (options.dimensions > 0) add("--dimensions", std::to_string(options.dimensions));
  if (options.restart) words.emplace_back("--restart");
  if (options.quiet) words.emplace_back("--quiet");
  LB_ASSIGN_OR_RETURN(const auto settings, options.embedder.flags.effective());
  for (const std::string& key : settings.keys()) {
    if (!settings.is_set(key) || group_of(key) == SettingGroup::kServer) continue;
    words.push_back(fmt::format("--set={}={}", key, settings.text_of(key)));
  }
  words.emplace_back("--");
  words.insert(words.end(), options.source.files.begin(), options.source.files.end());
  return words;
}

}  // namespace latebind::cli
