// TextReader reads the texts of several input files, one after the other, in bounded memory.
//
// A text is a line without its end (LF or CR LF; optional on the last line), so an empty line is an empty text; the
// string in one field of the JSON object on a line; or a value of a table (records.h). Files whose names end in .gz are
// unpacked. A byte-order mark at the start of a file is skipped. Texts must be UTF-8, and records at most kRecordMax
// bytes long. Errors name the file and the line. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/data/records.h"
#include "core/result.h"

namespace latebind::cli {

// The length of a record, which is a line or the lines of a row.
inline constexpr std::size_t kRecordMax = std::size_t{64} << 20;

struct TextSource {
  std::vector<std::string> texts{};    // read before the files, unchanged
  std::vector<std::string> files{};    // "-" is stdin; empty means stdin if `texts` is empty, too
  std::optional<TextFormat> format{};  // std::nullopt: what each file's name says
  std::string field = "text";          // of an object or a table
  std::string id_field = "id";         // likewise; empty: no ids
  // By number, the files that are read by their lines if their first record is not what their name says: those that
  // nobody named, but a folder has. Those beyond the end are not.
  std::vector<bool> may_be_lines{};

  [[nodiscard]] bool reads_stdin() const;
};

struct TextRecord {
  std::string text;
  std::size_t file = 0;    // index of the file; meaningless for TextSource::texts
  std::uint64_t line = 0;  // where it begins, from 1; in its file, or among TextSource::texts
  std::uint64_t last_line = 0;
  std::uint64_t bytes = 0;  // consumed from the input, including the end of the line
  std::uint64_t end = 0;    // the byte in the unpacked file where the next record begins
  std::string id{};         // as JSON; empty: no id
};

class TextReader {
 public:
  // Checks that every file exists and is readable, before any expensive work.
  static core::Result<TextReader> open(TextSource source);

  TextReader(TextReader&&) noexcept;
  TextReader& operator=(TextReader&&) noexcept;
  ~TextReader();

  // Reads the next text into `record`. Returns false at the end of the last file. No reads may follow an error.
  [[nodiscard]] core::Result<bool> next(TextRecord& record);

  // Skips the first `lines` lines of a file, which have `bytes` unpacked bytes and end with a record. Must precede
  // next(). Returns kInvalidArgument if the file is shorter.
  [[nodiscard]] core::Status skip_to(std::size_t file, std::uint64_t bytes, std::uint64_t lines);

  // The bytes of the input that skip_to() skipped.
  [[nodiscard]] std::uint64_t skipped_bytes() const;
  // The size of all inputs, or std::nullopt if one of them is a pipe or packed.
  [[nodiscard]] std::optional<std::uint64_t> total_bytes() const;
  // The number of files so far that were read by their lines, although their names say something else.
  [[nodiscard]] std::size_t files_by_lines() const;

 private:
  class Input;
  struct Parts;
  explicit TextReader(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace latebind::cli
