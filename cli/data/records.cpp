#include "cli/data/records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "cli/data/file_kinds.h"
#include "core/json/value.h"
#include "core/text/quote.h"

namespace latebind::cli {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using Text = std::optional<TextField>;

// In the order in which they are tried.
constexpr std::string_view kCsvSeparators = ",;\t";
constexpr std::size_t kShownColumns = 12;
constexpr std::size_t kShownBytes = 64;

Status mistake(std::string text) {
  return Status(StatusCode::kInvalidArgument, std::move(text));
}

std::string_view name_of(char separator) {
  return separator == ',' ? "commas" : separator == ';' ? "semicolons" : "tabs";
}

}  // namespace

TextFormat format_of_name(std::string_view name) {
  if (is_json_lines(name)) return TextFormat::kJsonl;
  if (!is_comma_table(name)) return TextFormat::kLines;
  return ends_in_any(unpacked_name(name), {".tsv"}) ? TextFormat::kTsv : TextFormat::kCsv;
}

Records::Records(TextFormat format, std::string field, std::string id_field)
    : format_(format), field_(std::move(field)), id_field_(std::move(id_field)) {
  if (format_ == TextFormat::kTsv) separator_ = '\t';
}

bool Records::is_separator(char c) const {
  return separator_ != 0 ? c == separator_ : kCsvSeparators.find(c) != std::string_view::npos;
}

Records::Place Records::behind(char c, Place place) const {
  switch (place) {
    case Place::kQuoted:
      return c == '"' ? Place::kQuote : Place::kQuoted;
    case Place::kQuote:
      if (c == '"') return Place::kQuoted;  // a quote in the value
      break;
    case Place::kBegin:
      if (c == '"') return Place::kQuoted;
      break;
    case Place::kPlain:
      break;
  }
  return is_separator(c) || c == '\n' ? Place::kBegin : Place::kPlain;
}

bool Records::is_complete_with(std::string_view line) {
  if (!is_table()) return true;
  for (const char c : line)
    place_ = behind(c, place_);
  if (place_ == Place::kQuoted) return false;
  place_ = Place::kBegin;
  return true;
}

// Sets the values of a row.
void Records::split(std::string_view row) {
  std::size_t count = 0;
  const auto begin_value = [&] {
    if (count == values_.size()) values_.emplace_back();
    values_[count++].clear();
  };
  begin_value();
  Place place = Place::kBegin;
  for (const char c : row) {
    const Place before = std::exchange(place, behind(c, place));
    std::string& value = values_[count - 1];
    if (place == Place::kQuoted) {
      // The first quote opens the value; the second of two is one of the value.
      if (before == Place::kQuoted || before == Place::kQuote) value.push_back(c);
    } else if (place == Place::kBegin && is_separator(c)) {
      begin_value();
    } else if (place != Place::kQuote) {
      value.push_back(c);
    }
  }
  values_.resize(count);
}

Status Records::read_header(std::string_view row) {
  const std::string_view candidates = separator_ != 0 ? std::string_view(&separator_, 1) : kCsvSeparators;
  char best = candidates.front();
  std::size_t most = 0;
  const auto is_text = [this](const std::string& name) { return name == field_; };
  for (const char candidate : candidates) {
    separator_ = candidate;
    split(row);
    if (std::ranges::any_of(values_, is_text)) break;
    if (values_.size() > most) best = candidate;
    most = std::max(most, values_.size());
    separator_ = 0;
  }
  if (separator_ == 0) {
    separator_ = best;
    split(row);
    std::vector<std::string> names;
    for (const std::string& name : values_)
      if (names.size() < kShownColumns) names.push_back(core::quoted(name, kShownBytes));
    return mistake(
        fmt::format("there is no column {} among {}{}, which are separated by {}; --text-field names the "
                    "column of texts",
                    core::quoted(field_, kShownBytes), fmt::join(names, ", "),
                    names.size() < values_.size() ? ", …" : "", name_of(best)));
  }
  const auto column_of = [this](const std::string& name) -> Result<std::optional<std::size_t>> {
    if (std::ranges::count(values_, name) > 1) {
      return mistake(fmt::format("there are several columns {}", core::quoted(name, kShownBytes)));
    }
    const auto found = std::ranges::find(values_, name);
    if (found == values_.end()) return std::optional<std::size_t>();
    return std::optional(static_cast<std::size_t>(found - values_.begin()));
  };
  LB_ASSIGN_OR_RETURN(const auto text_column, column_of(field_));
  text_column_ = *text_column;
  if (!id_field_.empty()) {
    LB_ASSIGN_OR_RETURN(id_column_, column_of(id_field_));
  }
  columns_ = values_.size();
  return {};
}

Result<Text> Records::read_row(std::string_view row) {
  if (row.empty()) {
    return needs_header() ? Result<Text>(mistake("the first line is empty; it names the columns")) : Text();
  }
  if (needs_header()) {
    LB_RETURN_IF_ERROR(read_header(row));
    return Text();
  }
  split(row);
  if (values_.size() != columns_) {
    return mistake(fmt::format("the row has {} values, but the first row names {} columns, separated by {}",
                               values_.size(), columns_, name_of(separator_)));
  }
  TextField found;
  // Both may be the same column.
  if (id_column_) found.id = core::Json(values_[*id_column_]).dump();
  found.text = std::move(values_[text_column_]);
  return Text(std::move(found));
}

Result<Text> Records::read(std::string record) {
  if (format_ == TextFormat::kLines) return Text(TextField{.text = std::move(record)});
  if (is_table()) return read_row(record);
  if (record.find_first_not_of(" \t\r") == std::string::npos) {
    return mistake("the line is empty; a JSON object is expected on each line");
  }
  LB_ASSIGN_OR_RETURN(auto found, text_field(record, field_, id_field_));
  return Text(std::move(found));
}

}  // namespace latebind::cli
