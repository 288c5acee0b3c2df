// Records makes texts of the lines of one file: the lines themselves, the objects of JSON lines, or the rows of a
// table.
//
// A table is CSV as RFC 4180 and Python's csv module define it. Its first row names the columns; a value in quotes may
// contain separators, line ends and, twice, quotes. CSV may be separated by semicolons or tabs, as spreadsheets write
// it where the comma is a decimal point: another separator is taken if only then the header names the column of texts.
// Empty rows are skipped. For one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/data/json_field.h"
#include "core/config.h"
#include "core/result.h"

namespace latebind::cli {

enum class TextFormat : std::int32_t { kLines = 0, kJsonl = 1, kCsv = 2, kTsv = 3 };

// The format that the name of a file promises, packed or not.
[[nodiscard]] TextFormat format_of_name(std::string_view name);

class Records {
 public:
  // `field` and `id_field` name members of objects or columns. Without an `id_field`, there are no ids.
  Records(TextFormat format, std::string field, std::string id_field);

  [[nodiscard]] bool is_table() const { return format_ == TextFormat::kCsv || format_ == TextFormat::kTsv; }
  // Whether the header of a table is still to be read.
  [[nodiscard]] bool needs_header() const { return is_table() && columns_ == 0; }
  // Whether a record is complete with this line, which includes its end. If not, a value in quotes continues in the
  // next line.
  [[nodiscard]] bool is_complete_with(std::string_view line);
  // Reads a complete record without its last line end and without a byte-order mark. It must be UTF-8. std::nullopt for
  // what has no text, which is the header or an empty row. Returns kInvalidArgument for a record without the text.
  [[nodiscard]] core::Result<std::optional<TextField>> read(std::string record);

 private:
  enum class Place : std::uint8_t { kBegin, kPlain, kQuoted, kQuote };

  [[nodiscard]] Place behind(char c, Place place) const;
  [[nodiscard]] bool is_separator(char c) const;
  core::Status read_header(std::string_view row);
  core::Result<std::optional<TextField>> read_row(std::string_view row);
  void split(std::string_view row);

  TextFormat format_;
  std::string field_;
  std::string id_field_;
  // Of a table.
  char separator_ = 0;  // 0: not known yet
  std::size_t columns_ = 0;
  std::size_t text_column_ = 0;
  std::optional<std::size_t> id_column_{};
  Place place_ = Place::kBegin;        // where the lines so far end
  std::vector<std::string> values_{};  // of the row
};

}  // namespace latebind::cli

template <>
struct latebind::core::Words<latebind::cli::TextFormat> {
  static constexpr std::string_view kWhat = "input format";
  static constexpr std::array kWords{
      Word<cli::TextFormat>{"lines", cli::TextFormat::kLines}, Word<cli::TextFormat>{"jsonl", cli::TextFormat::kJsonl},
      Word<cli::TextFormat>{"csv", cli::TextFormat::kCsv}, Word<cli::TextFormat>{"tsv", cli::TextFormat::kTsv}};
};
