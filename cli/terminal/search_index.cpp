#include "cli/terminal/search_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "app/index/model_digest.h"
#include "cli/data/file_kinds.h"
#include "cli/data/nearest.h"
#include "cli/data/records.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "core/platform/files/folders.h"
#include "core/text/counted.h"
#include "core/text/quote.h"
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
  by.options["input_format"] = search.source->format ? core::word_of(*search.source->format) : "by name";
  if (search.source->format != TextFormat::kLines) by.options["text_field"] = search.source->field;
  by.options["max_tokens"] = embedder.max_tokens();
  by.options["precision"] = core::word_of(embedder.attestation()->active.precision);
  if (search.prompt->text) by.options["prompt"] = *search.prompt->text;
  if (search.prompt->name) by.options["prompt_name"] = *search.prompt->name;
  if (search.prompt->task) by.options["task"] = *search.prompt->task;
  return by;
}

// Cuts a file into the texts of its records.
class RecordCutter final : public app::TextCutter {
 public:
  // `may_be_lines`: the file is read by its lines if its first record is not what its name says, and `on_lines` is
  // called.
  RecordCutter(const TextSource& source, const app::FoundFile& file, std::string_view content, bool may_be_lines,
               std::function<void()> on_lines)
      : content_(content),
        begin_(content.starts_with(core::kByteOrderMark) ? core::kByteOrderMark.size() : 0),
        records_(source.format.value_or(format_of_name(file.name)), source.field, source.id_field),
        may_be_lines_(may_be_lines),
        on_lines_(std::move(on_lines)) {}

  Result<bool> next(Piece& piece) override {
    for (;;) {
      const std::size_t from = begin_;
      const std::uint64_t line = line_ + 1;
      piece.line = line;
      if (from >= content_.size()) return false;
      LB_RETURN_IF_ERROR(find_end(piece));
      LB_ASSIGN_OR_RETURN(const bool has_text, read_record(piece));
      if (has_text) return true;
    }
  }

  Status read(Piece& piece) override {
    // The first record shows how to read the others.
    if (!has_begun_) {
      Piece first;
      LB_RETURN_IF_ERROR(next(first).status());
    }
    return read_record(piece).status();
  }

 private:
  // Finds the bytes of the next record.
  Status find_end(Piece& piece) {
    piece.begin = begin_;
    bool is_complete = false;
    std::size_t end = begin_;
    while (!is_complete) {
      if (end >= content_.size()) {
        return Status(core::StatusCode::kInvalidArgument, "a quote that begins in this row is not closed");
      }
      const std::size_t from = end;
      end = std::min(content_.find('\n', from), content_.size() - 1) + 1;
      is_complete = records_.is_complete_with(content_.substr(from, end - from));
      ++line_;
    }
    begin_ = end;
    piece.end = end;
    if (content_[piece.end - 1] == '\n') --piece.end;
    if (piece.end > piece.begin && content_[piece.end - 1] == '\r') --piece.end;
    return {};
  }

  // Returns false if the record has no text.
  Result<bool> read_record(Piece& piece) {
    auto found = records_.read(std::string(content_.substr(piece.begin, piece.end - piece.begin)));
    if (!found.ok()) {
      if (has_begun_ || !may_be_lines_) return found.status();
      records_ = Records(TextFormat::kLines, {}, {});
      if (on_lines_) on_lines_();
      begin_ = content_.starts_with(core::kByteOrderMark) ? core::kByteOrderMark.size() : 0;
      line_ = 0;
      has_begun_ = true;
      return false;
    }
    has_begun_ = has_begun_ || found->has_value();
    if (!*found) return false;
    piece.text = std::move((*found)->text);
    piece.id = std::move((*found)->id);
    return true;
  }

  const std::string_view content_;
  std::size_t begin_ = 0;  // of the next record
  std::uint64_t line_ = 0;
  Records records_;
  bool has_begun_ = false;
  const bool may_be_lines_;
  const std::function<void()> on_lines_;
};

// A packed file would have to be unpacked for every text that is shown.
Status check_unpacked(app::FoundFiles& found) {
  std::vector<app::FoundFile> files;
  for (app::FoundFile& file : found.files) {
    if (!is_packed(file.name)) {
      files.push_back(std::move(file));
    } else if (file.was_named) {
      return Status(core::StatusCode::kInvalidArgument,
                    fmt::format("{} is packed, so its texts cannot be indexed: unpack it, or leave out --index",
                                core::quoted(file.name)));
    } else {
      ++found.left_out.binary;
    }
  }
  found.files = std::move(files);
  return {};
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
      wanted[i]->id = std::move(places[i].id);
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

  LB_RETURN_IF_ERROR(check_unpacked(found));
  request.texts = found.files;
  request.bytes_max = search.bytes_max;
  std::size_t files_by_lines = 0;
  bool is_updating = true;  // counts each file once
  request.cut = [&, source = search.source](const app::FoundFile& file, std::string_view content) {
    const auto on_lines = [&] { files_by_lines += is_updating ? 1 : 0; };
    return std::make_unique<RecordCutter>(*source, file, content, !file.was_named && !source->format, on_lines);
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
  is_updating = false;
  if (!search.quiet) note_files_by_lines(files_by_lines, *search.source);
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
