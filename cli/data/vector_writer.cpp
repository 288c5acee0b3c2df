#include "cli/data/vector_writer.h"

#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "app/npy.h"
#include "core/text/format_to.h"

namespace latebind::cli {
namespace {

using core::ElementType;
using core::Result;
using core::Status;
using core::StatusCode;

// Enough for any two-dimensional shape.
constexpr std::size_t kHeaderSize = 128;

std::string_view bytes_of(std::span<const float> rows) {
  return {reinterpret_cast<const char*>(rows.data()), rows.size_bytes()};
}

// Appends the shortest number that reads back as the same f32.
void append_number(std::string& line, float number) {
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
  line.append(digits, end);
  // Readers take "-0" for an integer, which has no negative zero.
  if (number == 0 && std::signbit(number)) line += ".0";
}

Status write_ids(std::span<const std::string> ids, const IdSink& sink) {
  if (!sink) return {};
  for (const std::string& id : ids)
    LB_RETURN_IF_ERROR(sink((id.empty() ? "null" : id) + "\n"));
  return {};
}

// Writes one JSON object per line: the index and the members of a vector.
class JsonLineWriter : public VectorWriter {
 public:
  JsonLineWriter(std::unique_ptr<ByteSink> sink, std::uint64_t first) : sink_(std::move(sink)), index_(first) {}
  Status finish() override { return sink_->finish(); }
  Status write(const embedding::VectorWindow& window, std::span<const std::string> ids) final {
    ids_ = ids;
    return write_lines(window);
  }

 protected:
  virtual Status write_lines(const embedding::VectorWindow& window) = 0;

  // Writes a line with these numbers under `key`. `before` precedes the key.
  Status write_line(std::string_view before, std::string_view key, std::span<const float> numbers) {
    begin_line(before, key);
    append_list(numbers);
    return end_line();
  }
  // Writes a line with lists of `dimension` numbers each under `key`.
  Status write_lists(std::string_view key, std::span<const float> numbers, std::size_t dimension) {
    begin_line({}, key);
    line_ += '[';
    for (std::size_t at = 0; at < numbers.size(); at += dimension) {
      if (at > 0) line_ += ',';
      append_list(numbers.subspan(at, dimension));
    }
    line_ += ']';
    return end_line();
  }

 private:
  void begin_line(std::string_view before, std::string_view key) {
    line_.clear();
    fmt::format_to(std::back_inserter(line_), "{{\"index\":{},", index_);
    if (!ids_.empty()) {
      if (!ids_.front().empty()) fmt::format_to(std::back_inserter(line_), "\"id\":{},", ids_.front());
      ids_ = ids_.subspan(1);
    }
    fmt::format_to(std::back_inserter(line_), "{}\"{}\":", before, key);
  }
  void append_list(std::span<const float> numbers) {
    line_ += '[';
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (i > 0) line_ += ',';
      append_number(line_, numbers[i]);
    }
    line_ += ']';
  }
  Status end_line() {
    line_ += "}\n";
    ++index_;
    return sink_->write(line_);
  }

  std::unique_ptr<ByteSink> sink_;
  std::uint64_t index_;
  std::span<const std::string> ids_;  // of the window's texts that are not written yet
  std::string line_;
};

class JsonlWriter final : public JsonLineWriter {
 public:
  JsonlWriter(std::unique_ptr<ByteSink> sink, std::size_t dimension, std::uint64_t first)
      : JsonLineWriter(std::move(sink), first), dimension_(dimension) {}

 protected:
  Status write_lines(const embedding::VectorWindow& window) override {
    for (auto rows = window.vectors; !rows.empty(); rows = rows.subspan(dimension_))
      LB_RETURN_IF_ERROR(write_line({}, "embedding", rows.first(dimension_)));
    return {};
  }

 private:
  std::size_t dimension_;
};

class SparseWriter final : public JsonLineWriter {
 public:
  using JsonLineWriter::JsonLineWriter;

 protected:
  Status write_lines(const embedding::VectorWindow& window) override {
    for (const embedding::SparseVector& vector : window.sparse) {
      const std::string indices = fmt::format("\"indices\":[{}],", fmt::join(vector.indices, ","));
      LB_RETURN_IF_ERROR(write_line(indices, "values", vector.values));
    }
    return {};
  }
};

class MultiVectorWriter final : public JsonLineWriter {
 public:
  MultiVectorWriter(std::unique_ptr<ByteSink> sink, std::size_t dimension, std::uint64_t first)
      : JsonLineWriter(std::move(sink), first), dimension_(dimension) {}

 protected:
  Status write_lines(const embedding::VectorWindow& window) override {
    auto rows = window.vectors;
    for (const std::uint32_t count : window.vector_counts) {
      LB_RETURN_IF_ERROR(write_lists("vectors", rows.first(count * dimension_), dimension_));
      rows = rows.subspan(count * dimension_);
    }
    return {};
  }

 private:
  std::size_t dimension_;
};

class NpyWriter final : public VectorWriter {
 public:
  NpyWriter(std::unique_ptr<ByteSink> sink, std::size_t dimension, std::uint64_t first, IdSink ids)
      : sink_(std::move(sink)), ids_(std::move(ids)), dimension_(dimension), count_(first) {}

  Status begin() {
    if (count_ > 0) return {};
    LB_ASSIGN_OR_RETURN(const std::string bytes, header());
    return sink_->write(bytes);
  }
  Status write(const embedding::VectorWindow& window, std::span<const std::string> ids) override {
    count_ += window.vectors.size() / dimension_;
    LB_RETURN_IF_ERROR(write_ids(ids, ids_));
    return sink_->write(bytes_of(window.vectors));
  }
  Status finish() override {
    LB_ASSIGN_OR_RETURN(const std::string bytes, header());
    LB_RETURN_IF_ERROR(sink_->rewrite(0, bytes));
    return sink_->finish();
  }

 private:
  Result<std::string> header() const {
    const std::int64_t dims[] = {static_cast<std::int64_t>(count_), static_cast<std::int64_t>(dimension_)};
    return app::make_npy_header(ElementType::kF32, dims, kHeaderSize);
  }

  std::unique_ptr<ByteSink> sink_;
  IdSink ids_;
  std::size_t dimension_;
  std::uint64_t count_;
};

class RawWriter final : public VectorWriter {
 public:
  RawWriter(std::unique_ptr<ByteSink> sink, IdSink ids) : sink_(std::move(sink)), ids_(std::move(ids)) {}
  Status write(const embedding::VectorWindow& window, std::span<const std::string> ids) override {
    LB_RETURN_IF_ERROR(write_ids(ids, ids_));
    return sink_->write(bytes_of(window.vectors));
  }
  Status finish() override { return sink_->finish(); }

 private:
  std::unique_ptr<ByteSink> sink_;
  IdSink ids_;
};

}  // namespace

Result<std::unique_ptr<VectorWriter>> VectorWriter::make(VectorFormat format, std::unique_ptr<ByteSink> sink,
                                                         std::size_t dimension, std::uint64_t first, IdSink ids) {
  switch (format) {
    case VectorFormat::kJsonl:
      return std::unique_ptr<VectorWriter>(std::make_unique<JsonlWriter>(std::move(sink), dimension, first));
    case VectorFormat::kF32:
      return std::unique_ptr<VectorWriter>(std::make_unique<RawWriter>(std::move(sink), std::move(ids)));
    case VectorFormat::kSparse:
      return std::unique_ptr<VectorWriter>(std::make_unique<SparseWriter>(std::move(sink), first));
    case VectorFormat::kMultiVector:
      return std::unique_ptr<VectorWriter>(std::make_unique<MultiVectorWriter>(std::move(sink), dimension, first));
    case VectorFormat::kNpy:
      break;
    case VectorFormat::kParquet:
      return Status(StatusCode::kInternal, "this program does not write Parquet");
  }
  LB_ASSIGN_OR_RETURN(auto rewriting, rewritable(std::move(sink)));
  auto writer = std::make_unique<NpyWriter>(std::move(rewriting), dimension, first, std::move(ids));
  LB_RETURN_IF_ERROR(writer->begin());
  return std::unique_ptr<VectorWriter>(std::move(writer));
}

}  // namespace latebind::cli
