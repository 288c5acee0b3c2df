#include "cli/data/text_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "cli/data/file_kinds.h"
#include "cli/data/gunzip.h"
#include "core/platform/files/folders.h"
#include "core/text/encoding_fault.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"

namespace latebind::cli {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::size_t kBlock = std::size_t{64} * 1024;

Status file_error(std::string_view what, const std::string& name, int error_number) {
  const std::error_code error(error_number ? error_number : EIO, std::generic_category());
  StatusCode code = StatusCode::kIo;
  if (error == std::errc::no_such_file_or_directory) code = StatusCode::kNotFound;
  if (error == std::errc::permission_denied) code = StatusCode::kPermissionDenied;
  return Status(code, fmt::format("{} {}: {}", what, name == "stdin" ? name : core::quoted(name), error.message()));
}

Status open_error(const std::string& name, int error_number) {
  return file_error("cannot open", name, error_number);
}
Status read_error(const std::string& name, int error_number) {
  return file_error("cannot read", name, error_number);
}

}  // namespace

// One input, read in blocks.
class TextReader::Input {
 public:
  // `probe` only checks that a file can be read, and finds its size. It does not open a pipe, which can only be opened
  // once.
  static Result<Input> open(const std::string& file, bool probe = false) {
    Input input;
    if (file == "-") {
      input.name_ = "stdin";
      return input;
    }
    input.name_ = file;
    const auto path = platform::path_from_utf8(file);
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
      return Status(StatusCode::kInvalidArgument, fmt::format("{} is a folder; name text files", file));
    }
    if (probe && std::filesystem::is_fifo(path, ignored)) return input;
    errno = 0;
    input.stream_ = std::make_shared<std::ifstream>(path, std::ios::binary);
    if (!input.stream_->is_open()) return open_error(file, errno);
    if (is_packed(file)) {
      input.gunzip_ = std::make_unique<Gunzip>(
          [stream = input.stream_, file](char* to, std::size_t count) { return read_from(*stream, file, to, count); });
    } else if (std::filesystem::is_regular_file(path, ignored)) {
      const auto size = std::filesystem::file_size(path, ignored);
      if (!ignored) input.size_ = size;
    }
    return input;
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::optional<std::uint64_t> size() const { return size_; }

  // Before any read.
  Status skip(std::uint64_t bytes) {
    if (gunzip_) {
      std::vector<char> block(kBlock);
      while (bytes > 0) {
        LB_ASSIGN_OR_RETURN(const std::size_t got, read(block.data(), std::min<std::uint64_t>(bytes, block.size())));
        if (got == 0) return too_short(bytes);
        bytes -= got;
      }
      return {};
    }
    if (!stream_ || !size_ || bytes > *size_ || !stream_->seekg(static_cast<std::streamoff>(bytes)))
      return too_short(bytes);
    return {};
  }

  // Returns 0 at the end.
  Result<std::size_t> read(char* to, std::size_t size) {
    errno = 0;
    if (!stream_) {
      // At a terminal, another read would wait for a second end.
      if (std::feof(stdin) != 0) return std::size_t{0};
      const std::size_t got = std::fread(to, 1, size, stdin);
      if (got == 0 && std::ferror(stdin) != 0) return read_error(name_, errno);
      return got;
    }
    if (!gunzip_) return read_from(*stream_, name_, to, size);
    auto got = gunzip_->read(to, size);
    return got.ok() ? got : got.status().with_context(fmt::format("cannot unpack {}", core::quoted(name_)));
  }

 private:
  static Result<std::size_t> read_from(std::ifstream& stream, const std::string& name, char* to, std::size_t size) {
    errno = 0;
    stream.read(to, static_cast<std::streamsize>(size));
    if (stream.bad()) return read_error(name, errno);
    return static_cast<std::size_t>(stream.gcount());
  }
  [[nodiscard]] Status too_short(std::uint64_t bytes) const {
    return Status(StatusCode::kInvalidArgument, fmt::format("{} does not have {} bytes to skip", name_, bytes));
  }

  std::string name_;
  std::shared_ptr<std::ifstream> stream_;  // null: stdin
  std::unique_ptr<Gunzip> gunzip_;         // null: the file is not packed
  std::optional<std::uint64_t> size_;
};

struct TextReader::Parts {
  TextSource source;
  std::optional<std::uint64_t> total_bytes = 0;

  std::size_t next_text = 0;
  std::optional<Input> input;
  std::optional<Records> records;  // of the input
  std::size_t next_file = 0;
  std::uint64_t line = 0;
  std::uint64_t offset = 0;
  std::uint64_t skipped = 0;
  bool has_begun = false;  // the input has given a text
  std::size_t files_by_lines = 0;
  std::vector<char> block = std::vector<char>(kBlock);
  std::size_t begin = 0;  // of the unused part of the block
  std::size_t end = 0;

  Status open_file(std::size_t file, std::optional<TextFormat> format) {
    const std::string& name = source.files[file];
    LB_ASSIGN_OR_RETURN(input, Input::open(name));
    records.emplace(format.value_or(format_of_name(name)), source.field, source.id_field);
    next_file = file + 1;
    line = offset = 0;
    begin = end = 0;
    has_begun = false;
    return {};
  }

  // Appends the next line with its end. Returns false at the end of the file.
  Result<bool> next_line(std::string& text) {
    const std::size_t before = text.size();
    for (;;) {
      if (begin == end) {
        LB_ASSIGN_OR_RETURN(end, input->read(block.data(), block.size()));
        begin = 0;
        if (end == 0) break;
      }
      const char* const from = block.data() + begin;
      const auto* const stop = static_cast<const char*>(std::memchr(from, '\n', end - begin));
      const std::size_t size = stop ? static_cast<std::size_t>(stop - from) + 1 : end - begin;
      if (text.size() + size - (stop ? 1 : 0) > kRecordMax) {
        return Status(StatusCode::kInvalidArgument,
                      fmt::format("{}:{}: the {} is longer than {} MiB; {}", input->name(), line + 1,
                                  before == 0 ? "line" : "value in quotes", kRecordMax >> 20U,
                                  before == 0 ? "split it" : "is a quote missing?"));
      }
      text.append(from, size);
      begin += size;
      if (stop) break;
    }
    if (text.size() == before) return false;
    ++line;
    offset += text.size() - before;
    return true;
  }

  // Reads the lines of the next record, without the last line's end. Returns false at the end of the file.
  Result<bool> next_record(std::string& text, std::uint64_t& bytes) {
    text.clear();
    const std::uint64_t first = line + 1;
    const std::uint64_t from = offset;
    std::size_t known = 0;  // lines that the records have seen
    do {
      LB_ASSIGN_OR_RETURN(const bool more, next_line(text));
      if (!more && text.empty()) return false;
      if (!more) {
        return Status(StatusCode::kInvalidArgument,
                      fmt::format("{}:{}: a quote that begins in this row is not closed", input->name(), first));
      }
      if (line == 1 && text.starts_with(core::kByteOrderMark)) text.erase(0, core::kByteOrderMark.size());
    } while (!records->is_complete_with(std::string_view(text).substr(std::exchange(known, text.size()))));
    bytes = offset - from;
    if (text.ends_with('\n')) text.pop_back();
    if (text.ends_with('\r')) text.pop_back();
    return true;
  }

  [[nodiscard]] Status check_encoding(std::string_view text, std::uint64_t first) const {
    const auto bad = core::find_invalid_utf8(text);
    if (!bad) return {};
    const auto [number, from] = core::line_of(text, *bad);
    const std::uint64_t at = first + number - 1;
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("{}:{}: {}", input->name(), at, core::encoding_fault(text.substr(from), *bad - from, at == 1)));
  }

  // Reads the next text of the input. Returns false at its end.
  Result<bool> next_of_input(TextRecord& record) {
    record.bytes = 0;
    for (;;) {
      const std::uint64_t first = line + 1;
      std::uint64_t bytes = 0;
      LB_ASSIGN_OR_RETURN(const bool more, next_record(record.text, bytes));
      if (!more) return false;
      record.bytes += bytes;
      LB_RETURN_IF_ERROR(check_encoding(record.text, first));
      auto found = records->read(std::move(record.text));
      if (!found.ok()) {
        const std::size_t file = next_file - 1;
        const bool may_be_lines = !has_begun && file < source.may_be_lines.size() && source.may_be_lines[file];
        if (!may_be_lines) return found.status().with_context(fmt::format("{}:{}", input->name(), first));
        LB_RETURN_IF_ERROR(open_file(file, TextFormat::kLines));
        ++files_by_lines;
        record.bytes = 0;
        continue;
      }
      if (!*found) continue;
      record.text = std::move((*found)->text);
      record.id = std::move((*found)->id);
      record.line = first;
      has_begun = true;
      return true;
    }
  }
};

TextReader::TextReader(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TextReader::TextReader(TextReader&&) noexcept = default;
TextReader& TextReader::operator=(TextReader&&) noexcept = default;
TextReader::~TextReader() = default;

bool TextSource::reads_stdin() const {
  return files.empty() ? texts.empty() : std::ranges::find(files, "-") != files.end();
}

Result<TextReader> TextReader::open(TextSource source) {
  auto parts = std::make_unique<Parts>();
  if (source.files.empty() && source.reads_stdin()) source.files.emplace_back("-");
  for (const std::string& text : source.texts) {
    if (const auto bad = core::find_invalid_utf8(text)) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("--text: invalid UTF-8 at byte {} of {}", *bad + 1, core::quoted(text)));
    }
    *parts->total_bytes += text.size();
  }
  for (const std::string& file : source.files) {
    LB_ASSIGN_OR_RETURN(const Input input, Input::open(file, true));
    if (parts->total_bytes && input.size()) {
      *parts->total_bytes += *input.size();
    } else {
      parts->total_bytes.reset();
    }
  }
  parts->source = std::move(source);
  return TextReader(std::move(parts));
}

Result<bool> TextReader::next(TextRecord& record) {
  Parts& parts = *parts_;
  if (parts.next_text < parts.source.texts.size()) {
    record.text = parts.source.texts[parts.next_text++];
    record.file = 0;
    record.line = record.last_line = parts.next_text;
    record.bytes = record.text.size();
    return true;
  }
  for (;;) {
    if (!parts.input) {
      if (parts.next_file == parts.source.files.size()) return false;
      LB_RETURN_IF_ERROR(parts.open_file(parts.next_file, parts.source.format));
    }
    LB_ASSIGN_OR_RETURN(const bool more, parts.next_of_input(record));
    if (more) break;
    parts.input.reset();
  }
  record.file = parts.next_file - 1;
  record.last_line = parts.line;
  record.end = parts.offset;
  return true;
}

Status TextReader::skip_to(std::size_t file, std::uint64_t bytes, std::uint64_t lines) {
  Parts& parts = *parts_;
  if (file >= parts.source.files.size()) {
    return Status(StatusCode::kInvalidArgument, fmt::format("there is no file {} to continue with", file));
  }
  LB_RETURN_IF_ERROR(parts.open_file(file, parts.source.format));
  if (parts.records->needs_header()) {
    std::string header;
    std::uint64_t ignored = 0;
    LB_RETURN_IF_ERROR(parts.next_record(header, ignored).status());
    LB_RETURN_IF_ERROR(parts.records->read(std::move(header)).status());
    LB_ASSIGN_OR_RETURN(parts.input, Input::open(parts.source.files[file]));
  }
  LB_RETURN_IF_ERROR(parts.input->skip(bytes));
  parts.line = lines;
  parts.offset = bytes;
  parts.begin = parts.end = 0;
  parts.has_begun = true;
  parts.skipped = bytes;
  for (std::size_t i = 0; i < file; ++i) {
    LB_ASSIGN_OR_RETURN(const Input before, Input::open(parts.source.files[i], true));
    parts.skipped += before.size().value_or(0);
  }
  return {};
}

std::uint64_t TextReader::skipped_bytes() const {
  return parts_->skipped;
}

std::optional<std::uint64_t> TextReader::total_bytes() const {
  return parts_->total_bytes;
}

std::size_t TextReader::files_by_lines() const {
  return parts_->files_by_lines;
}

}  // namespace latebind::cli
