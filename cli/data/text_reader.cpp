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

#include "cli/data/json_field.h"
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
    input.stream_ = std::make_unique<std::ifstream>(path, std::ios::binary);
    if (!input.stream_->is_open()) return open_error(file, errno);
    if (std::filesystem::is_regular_file(path, ignored)) {
      const auto size = std::filesystem::file_size(path, ignored);
      if (!ignored) input.size_ = size;
    }
    return input;
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::optional<std::uint64_t> size() const { return size_; }

  Status skip(std::uint64_t bytes) {
    if (!stream_ || !size_ || bytes > *size_ || !stream_->seekg(static_cast<std::streamoff>(bytes))) {
      return Status(StatusCode::kInvalidArgument, fmt::format("{} does not have {} bytes to skip", name_, bytes));
    }
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
    stream_->read(to, static_cast<std::streamsize>(size));
    if (stream_->bad()) return read_error(name_, errno);
    return static_cast<std::size_t>(stream_->gcount());
  }

 private:
  std::string name_;
  std::unique_ptr<std::ifstream> stream_;  // null: stdin
  std::optional<std::uint64_t> size_;
};

struct TextReader::Parts {
  TextSource source;
  std::optional<std::uint64_t> total_bytes = 0;

  std::size_t next_text = 0;
  std::optional<Input> input;
  std::size_t next_file = 0;
  std::uint64_t line = 0;
  std::uint64_t offset = 0;
  std::uint64_t skipped = 0;
  std::vector<char> block = std::vector<char>(kBlock);
  std::size_t begin = 0;  // of the unused part of the block
  std::size_t end = 0;

  // Reads the next line without its end; `bytes` includes the end. Returns false at the end of the file.
  Result<bool> next_line(std::string& text, std::uint64_t& bytes) {
    text.clear();
    bytes = 0;
    for (;;) {
      if (begin == end) {
        LB_ASSIGN_OR_RETURN(end, input->read(block.data(), block.size()));
        begin = 0;
        if (end == 0) break;
      }
      const char* const from = block.data() + begin;
      const auto* const stop = static_cast<const char*>(std::memchr(from, '\n', end - begin));
      const std::size_t size = stop ? static_cast<std::size_t>(stop - from) : end - begin;
      if (text.size() + size > kLineMax) {
        return Status(StatusCode::kInvalidArgument, fmt::format("{}:{}: the line is longer than {} MiB; split it",
                                                                input->name(), line + 1, kLineMax >> 20U));
      }
      text.append(from, size);
      bytes += size + (stop ? 1 : 0);
      begin += size + (stop ? 1 : 0);
      if (stop) break;
    }
    if (bytes == 0) return false;
    ++line;
    offset += bytes;
    if (!text.empty() && text.back() == '\r') text.pop_back();
    if (line == 1 && text.starts_with(core::kByteOrderMark)) text.erase(0, core::kByteOrderMark.size());
    return true;
  }

  Status to_text(TextRecord& record) const {
    std::string& text = record.text;
    record.id.clear();
    if (const auto bad = core::find_invalid_utf8(text)) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{}:{}: {}", input->name(), line, core::encoding_fault(text, *bad, line == 1)));
    }
    if (source.format == TextFormat::kLines) return {};
    if (text.find_first_not_of(" \t\r") == std::string::npos) {
      return Status(
          StatusCode::kInvalidArgument,
          fmt::format("{}:{}: the line is empty; a JSON object is expected on each line", input->name(), line));
    }
    auto field = text_field(text, source.field, source.id_field);
    if (!field.ok()) {
      return field.status().with_context(fmt::format("{}:{}", input->name(), line));
    }
    text = std::move(field->text);
    record.id = std::move(field->id);
    return {};
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
    record.line = parts.next_text;
    record.bytes = record.text.size();
    return true;
  }
  for (;;) {
    if (!parts.input) {
      if (parts.next_file == parts.source.files.size()) return false;
      LB_ASSIGN_OR_RETURN(parts.input, Input::open(parts.source.files[parts.next_file]));
      ++parts.next_file;
      parts.line = 0;
      parts.offset = 0;
      parts.begin = parts.end = 0;
    }
    LB_ASSIGN_OR_RETURN(const bool more, parts.next_line(record.text, record.bytes));
    if (more) break;
    parts.input.reset();
  }
  LB_RETURN_IF_ERROR(parts.to_text(record));
  record.file = parts.next_file - 1;
  record.line = parts.line;
  record.end = parts.offset;
  return true;
}

Status TextReader::skip_to(std::size_t file, std::uint64_t bytes, std::uint64_t lines) {
  Parts& parts = *parts_;
  if (file >= parts.source.files.size()) {
    return Status(StatusCode::kInvalidArgument, fmt::format("there is no file {} to continue with", file));
  }
  LB_ASSIGN_OR_RETURN(parts.input, Input::open(parts.source.files[file]));
  LB_RETURN_IF_ERROR(parts.input->skip(bytes));
  parts.next_file = file + 1;
  parts.line = lines;
  parts.offset = bytes;
  parts.begin = parts.end = 0;
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

}  // namespace latebind::cli
