#include "cli/embed/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "app/apart.h"
#include "app/bulk/partial_output.h"
#include "cli/data/file_kinds.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"
#include "embedding/outputs/output.h"

namespace latebind::cli {

using core::Result;
using core::Status;

Status read_outputs(const std::string& given, std::vector<std::string>& outputs) {
  for (std::string_view rest = given;;) {
    const std::size_t comma = rest.find(',');
    const std::string name(rest.substr(0, comma));
    if (name.empty() || std::ranges::find(outputs, name) != outputs.end()) {
      return Status(core::StatusCode::kInvalidArgument,
                    fmt::format("--outputs {}: {}; give names with commas between them, such as dense,token_vectors",
                                core::quoted(given), name.empty() ? "a name is empty" : "a name is given twice"));
    }
    outputs.push_back(name);
    if (comma == std::string_view::npos) return {};
    rest.remove_prefix(comma + 1);
  }
}

std::vector<std::string> result_files(const EmbedArguments& options) {
  std::vector<WrittenOutput> named;
  for (const std::string& name : options.outputs) {
    const embedding::OutputKind* const kind = embedding::find_output_kind(name);
    named.push_back({.name = name, .form = kind != nullptr ? kind->form : embedding::ResultForm::kRow});
  }
  if (named.empty()) return {options.output};
  return files_of(options.format, options.output, named);
}

Status check_places(const EmbedArguments& options, const std::string& model) {
  if (options.output.empty() || options.output == "-") return {};
  const std::string ids = platform::path_to_utf8(app::ids_file_of(platform::path_from_utf8(options.output)));
  for (const std::string& file : options.source.files) {
    for (const std::string& output : result_files(options))
      LB_RETURN_IF_ERROR(app::check_apart_from_file({"-o", output}, {"FILE", file}));
    LB_RETURN_IF_ERROR(app::check_apart_from_file({"the file of ids", ids}, {"FILE", file}));
  }
  return app::check_file_apart({"-o", options.output}, {"MODEL", model});
}

Status choose_formats(EmbedArguments& options) {
  if (options.output_format) {
    options.format = *options.output_format;
  } else if (ends_in_any(options.output, {".npy"})) {
    options.format = VectorFormat::kNpy;
  } else if (is_parquet(options.output)) {
    options.format = VectorFormat::kParquet;
  } else if (is_no_output_format(options.output)) {
    return Status(core::StatusCode::kInvalidArgument,
                  fmt::format("-o {}: no format follows from that ending: end the name in .jsonl, .npy or .parquet, or "
                              "name a format with --output-format",
                              core::quoted(options.output)));
  }
  if (options.source.format) return {};
  if (const auto json = std::ranges::find_if(options.source.files, is_json); json != options.source.files.end()) {
    return Status(
        core::StatusCode::kInvalidArgument,
        fmt::format("{}: a file that ends in .json may be one document, which is not read: if each line is an "
                    "object, say --input-format jsonl; to embed its lines as they are, --input-format lines",
                    core::quoted(*json)));
  }
  return {};
}

bool are_all_lines(const TextSource& source) {
  return std::ranges::all_of(source.files, [&](const std::string& file) {
    return source.format.value_or(format_of_name(file)) == TextFormat::kLines;
  });
}

Result<app::Json> kept_settings(const EmbedArguments& options) {
  app::Json json;
  json["output_format"] = core::word_of(options.format);
  // Without the option, it follows from the names, which the manifest has.
  json["input_format"] = options.source.format ? app::Json(core::word_of(*options.source.format)) : app::Json();
  if (!are_all_lines(options.source)) {
    json["text_field"] = options.source.field;
    json["id_field"] = options.source.id_field;
  }
  if (!options.outputs.empty()) json["outputs"] = options.outputs;
  json["prompt"] = options.prompt.text ? app::Json(*options.prompt.text) : app::Json();
  json["prompt_name"] = options.prompt.name ? app::Json(*options.prompt.name) : app::Json();
  if (options.prompt.task) json["task"] = *options.prompt.task;
  const bool has_role = options.prompt.role != embedding::TextRole::kUnspecified;
  json["role"] = has_role ? app::Json(core::word_of(options.prompt.role)) : app::Json();
  json["dimensions"] = options.dimensions > 0 ? app::Json(options.dimensions) : app::Json();
  json["window_texts"] = kKeptWindowTexts;
  app::Json& embedder = json["embedder"] = app::Json::object();
  LB_ASSIGN_OR_RETURN(const auto settings, options.embedder.flags.effective());
  for (const std::string& key : settings.keys()) {
    const SettingGroup group = group_of(key);
    const bool matters =
        group == SettingGroup::kEmbedding || group == SettingGroup::kPlacement || group == SettingGroup::kDevice;
    if (matters && settings.is_set(key)) embedder[key] = settings.text_of(key);
  }
  return json;
}

}  // namespace latebind::cli
