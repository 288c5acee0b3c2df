// TextReader: the texts of some input files, one after the other, in bounded memory.
//
// What a text is: with `lines`, a line without its end (LF or CR LF; the last line needs none), so that an empty line
// is an empty text; with `jsonl`, the string in one field of the JSON object that the line holds. A byte-order mark at
// the start of a file is left out. Texts are checked to be UTF-8, and no line may be longer than kLineMax. Errors name
// the file and the line. One thread at a time.
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
  std::vector<std::string> texts{};  // before those of files, as they are
  std::vector<std::string> files{};  // "-" is stdin; none at all means stdin, where there are no texts
  TextFormat format = TextFormat::kLines;
  std::string field = "text";  // jsonl only
  std::string id_field{};      // jsonl only; "" for none

  [[nodiscard]] bool reads_stdin() const;
};

struct TextRecord {
  std::string text;
  std::size_t file = 0;     // of the source, from 0; of no meaning for one of its texts
  std::uint64_t line = 0;   // of its file, from 1; of its texts
  std::uint64_t bytes = 0;  // taken from the input, the line's end included
  std::uint64_t end = 0;    // of its file, in bytes: where the next line is
  std::string id{};         // as JSON; "" for none
};

class TextReader {
 public:
  // Makes sure that every file exists and can be read, before any expensive work.
  static core::Result<TextReader> open(TextSource source);

  TextReader(TextReader&&) noexcept;
  TextReader& operator=(TextReader&&) noexcept;
  ~TextReader();

  // Reads the next text into `record`; false at the end of the last file. After an error, reading is over.
  [[nodiscard]] core::Result<bool> next(TextRecord& record);

  // Skips the first `lines` lines, `bytes` bytes in all, of a file. Call it before next().
  // kInvalidArgument where the file does not go that far.
  [[nodiscard]] core::Status skip_to(std::size_t file, std::uint64_t bytes, std::uint64_t lines);

  // Bytes of the input that skip_to() has left out.
  [[nodiscard]] std::uint64_t skipped_bytes() const;
  // All bytes to be read, or nothing when a pipe is among the inputs.
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
