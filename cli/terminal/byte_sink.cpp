#include "cli/terminal/byte_sink.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <span>
#include <utility>

#include "cli/terminal/messages.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/output_file.h"
#include "core/platform/standard_streams.h"

namespace latebind::cli {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OwnedFile = std::unique_ptr<std::FILE, CloseFile>;

Status rewrite_refused() {
  return Status(StatusCode::kInternal, "this output cannot be written to twice");
}

// The stream of results that are not written to a file.
std::FILE*& results() {
  static std::FILE* stream = stdout;
  return stream;
}

// A stream that takes bytes in order: stdout, a pipe, a device.
class StreamSink final : public ByteSink {
 public:
  StreamSink(std::FILE* stream, std::string name) : stream_(stream), name_(std::move(name)) {}
  StreamSink(OwnedFile owned, std::string name)
      : stream_(owned.get()), owned_(std::move(owned)), name_(std::move(name)) {}

  Status write(std::string_view bytes) override {
    errno = 0;
    if (std::fwrite(bytes.data(), 1, bytes.size(), stream_) != bytes.size()) {
      return write_error(name_, errno);
    }
    return {};
  }
  bool can_rewrite() const override { return false; }
  Status rewrite(std::size_t, std::string_view) override { return rewrite_refused(); }
  Status finish() override {
    errno = 0;
    if (std::fflush(stream_) != 0) return write_error(name_, errno);
    return {};
  }

 private:
  std::FILE* stream_;
  OwnedFile owned_;
  std::string name_;
};

class FileSink final : public ByteSink {
 public:
  explicit FileSink(platform::OutputFile file) : file_(std::move(file)) {}

  Status write(std::string_view bytes) override { return file_.write(bytes); }
  bool can_rewrite() const override { return true; }
  Status rewrite(std::size_t offset, std::string_view bytes) override {
    return file_.write_at(offset, std::as_bytes(std::span(bytes.data(), bytes.size())));
  }
  Status finish() override { return file_.commit(); }

 private:
  platform::OutputFile file_;
};

class SpooledSink final : public ByteSink {
 public:
  SpooledSink(OwnedFile spool, std::unique_ptr<ByteSink> target)
      : spool_(std::move(spool)), target_(std::move(target)) {}

  Status write(std::string_view bytes) override {
    errno = 0;
    if (std::fwrite(bytes.data(), 1, bytes.size(), spool_.get()) != bytes.size()) return failed();
    return {};
  }
  bool can_rewrite() const override { return true; }
  Status rewrite(std::size_t offset, std::string_view bytes) override {
    errno = 0;
    if (std::fseek(spool_.get(), static_cast<long>(offset), SEEK_SET) != 0) return failed();
    LB_RETURN_IF_ERROR(write(bytes));
    if (std::fseek(spool_.get(), 0, SEEK_END) != 0) return failed();
    return {};
  }
  Status finish() override {
    errno = 0;
    if (std::fseek(spool_.get(), 0, SEEK_SET) != 0) return failed();
    std::array<char, 65536> block{};
    for (;;) {
      const std::size_t got = std::fread(block.data(), 1, block.size(), spool_.get());
      if (got == 0) break;
      LB_RETURN_IF_ERROR(target_->write({block.data(), got}));
    }
    if (std::ferror(spool_.get()) != 0) return failed();
    return target_->finish();
  }

 private:
  static Status failed() {
    const Status status = write_error("the temporary file", errno);
    return Status(status.code(),
                  fmt::format("{}; -o FILE needs none, and TMPDIR names another folder for it", status.message()));
  }

  OwnedFile spool_;
  std::unique_ptr<ByteSink> target_;
};

}  // namespace

Result<std::unique_ptr<ByteSink>> open_sink(const std::string& file) {
  const bool apart = results() != stdout;
  if (file.empty() || file == "-" || (apart && file == "/dev/stdout")) {
    return std::unique_ptr<ByteSink>(std::make_unique<StreamSink>(results(), "to stdout"));
  }
  const auto path = platform::path_from_utf8(file);
  std::error_code ignored;
  const auto kind = std::filesystem::status(path, ignored).type();
  if (kind == std::filesystem::file_type::directory) {
    return Status(StatusCode::kIo, fmt::format("'{}' is a folder; name a file to write the output to", file));
  }
  // A rename would replace the device or the pipe for all its users.
  if (kind == std::filesystem::file_type::character || kind == std::filesystem::file_type::fifo ||
      kind == std::filesystem::file_type::block || kind == std::filesystem::file_type::socket) {
    errno = 0;
    OwnedFile stream(std::fopen(file.c_str(), "wb"));
    if (!stream) return write_error(file, errno);
    return std::unique_ptr<ByteSink>(std::make_unique<StreamSink>(std::move(stream), file));
  }
  platform::remove_abandoned_outputs(std::filesystem::absolute(path, ignored).parent_path());
  LB_ASSIGN_OR_RETURN(auto output, platform::OutputFile::create(path));
  return std::unique_ptr<ByteSink>(std::make_unique<FileSink>(std::move(output)));
}

Result<std::unique_ptr<ByteSink>> rewritable(std::unique_ptr<ByteSink> target) {
  if (target->can_rewrite()) return target;
  errno = 0;
  OwnedFile spool(platform::temporary_stream());
  if (!spool) return write_error("a temporary file", errno);
  return std::unique_ptr<ByteSink>(std::make_unique<SpooledSink>(std::move(spool), std::move(target)));
}

void keep_results_apart() {
  if (results() != stdout) return;
  if (std::FILE* const stream = platform::take_standard_output()) results() = stream;
}

Status print(std::string_view text) {
  StreamSink sink(results(), "to stdout");
  LB_RETURN_IF_ERROR(sink.write(text));
  return sink.finish();
}

}  // namespace latebind::cli
