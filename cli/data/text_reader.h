// TextReader reads the texts of several input files, one after the other, in bounded memory.
//
// With kLines, a text is a line without its end (LF or CR LF; optional on the last line), so an empty line is an empty
// text. With kJsonl, a text is the string in one field of the JSON object on a line. A byte-order mark at the start of
// a file is skipped. Texts must be UTF-8, and lines at most kLineMax bytes long. Errors name the file and the line. One
// thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/result.h"

namespace latebind::cli {

enum class TextFormat : std::int32_t { kLines = 0, kJsonl = 1 };

inline constexpr std::size_t kLineMax = std::size_t{64} << 20;

struct TextSource {
  std::vector<std::string> texts{};  // read before the files, unchanged
  std::vector<std::string> files{};  // "-" is stdin; empty means stdin if `texts` is empty, too
  TextFormat format = TextFormat::kLines;
  std::string field = "text";  // for kJsonl
  std::string id_field{};      // for kJsonl; empty: no ids

  [[nodiscard]] bool reads_stdin() const;
};

struct TextRecord {
  std::string text;
  std::size_t file = 0;     // index of the file; meaningless for TextSource::texts
  std::uint64_t line = 0;   // from 1; in its file, or among TextSource::texts
  std::uint64_t bytes = 0;  // consumed from the input, including the end of the line
  std::uint64_t end = 0;    // the byte in the file where the next line begins
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

  // Skips the first `lines` lines of a file, which have `bytes` bytes. Must precede next(). Returns kInvalidArgument if
  // the file is shorter.
  [[nodiscard]] core::Status skip_to(std::size_t file, std::uint64_t bytes, std::uint64_t lines);

  // The bytes of the input that skip_to() skipped.
  [[nodiscard]] std::uint64_t skipped_bytes() const;
  // The size of all inputs, or std::nullopt if one of them is a pipe.
  [[nodiscard]] std::optional<std::uint64_t> total_bytes() const;

 private:
  class Input;
  struct Parts;
  explicit TextReader(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace latebind::cli

template <>
struct latebind::core::Words<latebind::cli::TextFormat> {
  static constexpr std::string_view kWhat = "input format";
  static constexpr std::array kWords{Word<cli::TextFormat>{"lines", cli::TextFormat::kLines},
                                     Word<cli::TextFormat>{"jsonl", cli::TextFormat::kJsonl}};
};
