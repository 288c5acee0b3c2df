#include "cli/terminal/search_index.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "app/index/model_digest.h"
#include "cli/data/json_field.h"
#include "cli/data/nearest.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "core/platform/files/folders.h"
#include "core/text/counted.h"
#include "core/text/utf8.h"

namespace latebind::cli {
namespace {

using core::Result;
using core::Status;

// Everything that affects the texts and their vectors.
Result<app::IndexedBy> made_by(const IndexSearch& search, const embedding::Embedder& embedder,
                               const app::Runtime& runtime) {
  app::IndexedBy by;
  by.model = embedder.name();
  core::FileDigests* const digests = runtime.load.cache ? &runtime.load.cache->store()->digests() : nullptr;
  LB_ASSIGN_OR_RETURN(by.digest, app::model_digest(search.model, runtime.onnx_file, digests));
  by.dimension = search.dimensions > 0 ? search.dimensions : embedder.dimension();
  by.options["input_format"] = core::word_of(search.source->format);
  if (search.source->format == TextFormat::kJsonl) by.options["text_field"] = search.source->field;
  by.options["max_tokens"] = embedder.max_tokens();
  by.options["precision"] = core::word_of(embedder.attestation()->active.precision);
  if (search.prompt->text) by.options["prompt"] = *search.prompt->text;
  if (search.prompt->name) by.options["prompt_name"] = *search.prompt->name;
  return by;
}

app::Json json_of(const IndexSearch& search, const app::IndexUpdate& update) {
  app::Json json;
  json["file"] = search.index;
  json["files"] = update.index->files().size();
  json["texts"] = update.index->text_count();
  json["embedded_files"] = update.embedded_files;
  json["embedded_texts"] = update.stats.texts;
  json["removed_files"] = update.removed_files;
  return json;
}

// Replaces the number of each match's text by its line, and fills in the content.
Status fill_in(const app::IndexRequest& request, const app::IndexUpdate& update, std::vector<Match>& matches) {
  std::map<std::size_t, std::vector<Match*>> by_file;
  for (Match& match : matches)
    by_file[match.file].push_back(&match);
  for (const auto& [file, wanted] : by_file) {
    std::vector<app::TextPlace> places;
    for (const Match* match : wanted)
      places.push_back({.text = static_cast<std::size_t>(match->line)});
    LB_RETURN_IF_ERROR(app::read_places(request, update, file, places));
    const app::IndexedTexts texts = update.index->texts_of(*update.places[file]);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      wanted[i]->line = texts.lines[places[i].text];
      wanted[i]->text = core::cut_utf8(places[i].content, BestMatches::kTextMax);
    }
  }
  return {};
}

}  // namespace

Result<MatchReport> search_index(const IndexSearch& search, app::FoundFiles& found, const embedding::Embedder& embedder,
                                 const app::Runtime& runtime) {
  app::IndexRequest request;
  request.file = platform::path_from_utf8(search.index);
  LB_ASSIGN_OR_RETURN(request.by, made_by(search, embedder, runtime));
  const std::size_t dimension = request.by.dimension;
  std::vector<float> query(dimension);
  const std::string_view text = search.query;
  auto query_stats = embedder.embed({&text, 1}, query,
                                    {.texts = {.dimensions = search.dimensions,
                                               .role = search.query_prompt->role,
                                               .prompt = search.query_prompt->choice()}});
  if (!query_stats.ok()) return query_stats.status().with_context("--query");
  if (!search.quiet) note_dimensions(embedder, search.dimensions);

  request.texts = found.files;
  request.bytes_max = search.bytes_max;
  request.text_of = [source = search.source](std::string_view line) -> Result<std::string> {
    return source->format == TextFormat::kJsonl ? string_field(line, source->field) : std::string(line);
  };
  request.embedder = &embedder;
  request.note = [](std::string_view words) { note(words); };
  std::optional<Progress> progress;
  request.on_begin = [&](std::uint64_t bytes) {
    if (bytes > 0) progress.emplace(bytes, search.quiet);
  };
  request.on_progress = [&](std::uint64_t texts, std::uint64_t bytes) {
    if (progress) progress->advance(texts, bytes);
  };
  request.stream = stream_options(Progress(std::nullopt, /*quiet=*/true), *search.prompt, search.dimensions);
  LB_ASSIGN_OR_RETURN(const auto update, app::update_index(request));
  progress.reset();
  found.left_out += update.left_out;

  Nearest nearest(query, search.count);
  for (std::size_t file = 0; file < update.places.size(); ++file) {
    if (!update.places[file]) continue;
    const app::IndexedTexts texts = update.index->texts_of(*update.places[file]);
    for (std::size_t i = 0; i < texts.size(); ++i)
      nearest.offer(texts.vectors.subspan(i * dimension, dimension), i, {}, file);
  }
  MatchReport report{.query = search.query, .matches = std::move(nearest).take(), .stats = update.stats};
  report.stats.fallback_texts += query_stats->fallback_texts;
  LB_RETURN_IF_ERROR(fill_in(request, update, report.matches));
  report.index = json_of(search, update);
  if (!search.quiet) {
    note(fmt::format("index {}: {}, {}; {} embedded now, {} removed", search.index,
                     core::counted(update.index->files().size(), "file"),
                     core::counted(update.index->text_count(), "text"), core::counted(update.embedded_files, "file"),
                     update.removed_files));
  }
  return report;
}

}  // namespace latebind::cli
