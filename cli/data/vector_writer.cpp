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
using embedding::ResultForm;
using embedding::ResultWindow;

// Enough for any two-dimensional shape.
constexpr std::size_t kHeaderSize = 128;

template <class Number>
std::string_view bytes_of(std::span<const Number> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
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

// Writes one JSON object per line: the index and the results of a text.
class JsonLineWriter final : public VectorWriter {
 public:
  JsonLineWriter(std::unique_ptr<ByteSink> sink, std::vector<WrittenOutput> outputs, std::uint64_t first)
      : sink_(std::move(sink)), outputs_(std::move(outputs)), index_(first) {}
  Status finish() override { return sink_->finish(); }

  Status write(std::span<const ResultWindow> results, std::size_t texts, std::span<const std::string> ids) override {
    begins_.assign(outputs_.size(), 0);
    for (std::size_t i = 0; i < texts; ++i) {
      line_.clear();
      fmt::format_to(std::back_inserter(line_), "{{\"index\":{}", index_++);
      if (!ids.empty() && !ids[i].empty()) fmt::format_to(std::back_inserter(line_), ",\"id\":{}", ids[i]);
      for (std::size_t k = 0; k < outputs_.size(); ++k)
        append_result(outputs_[k], results[k], i, begins_[k]);
      line_ += "}\n";
      LB_RETURN_IF_ERROR(sink_->write(line_));
    }
    return {};
  }

 private:
  // Appends the members of one output. `begin` is the first row of text `i`, for ragged rows.
  void append_result(const WrittenOutput& output, const ResultWindow& result, std::size_t i, std::size_t& begin) {
    const bool is_named = outputs_.size() > 1;
    if (output.form == ResultForm::kSparseRow) {
      const embedding::SparseVector& vector = result.sparse[i];
      if (is_named) append_key(output.name);
      fmt::format_to(std::back_inserter(line_), "{}\"indices\":[{}],\"values\":", is_named ? "{" : ",",
                     fmt::join(vector.indices, ","));
      append_list(vector.values);
      if (is_named) line_ += '}';
      return;
    }
    const std::size_t dimension = output.dimension;
    if (output.form == ResultForm::kRow) {
      append_key(is_named ? output.name : "embedding");
      return append_list(result.vectors.subspan(i * dimension, dimension));
    }
    append_key(is_named ? output.name : "vectors");
    line_ += '[';
    const std::size_t end = begin + result.vector_counts[i];
    for (std::size_t row = begin; row < end; ++row) {
      if (row > begin) line_ += ',';
      append_list(result.vectors.subspan(row * dimension, dimension));
    }
    begin = end;
    line_ += ']';
  }
  void append_key(std::string_view key) { fmt::format_to(std::back_inserter(line_), ",\"{}\":", key); }
  void append_list(std::span<const float> numbers) {
    line_ += '[';
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (i > 0) line_ += ',';
      append_number(line_, numbers[i]);
    }
    line_ += ']';
  }

  std::unique_ptr<ByteSink> sink_;
  const std::vector<WrittenOutput> outputs_;
  std::uint64_t index_;
  std::vector<std::size_t> begins_;  // the first row of the next text, for each output
  std::string line_;
};

// Writes one array to one file.
class NpyFile {
 public:
  // `row` is the number of elements of a row; 0 for an array with one axis.
  NpyFile(std::unique_ptr<ByteSink> sink, ElementType type, std::size_t row, std::uint64_t first)
      : sink_(std::move(sink)), type_(type), row_(row), count_(first) {}

  Status begin() {
    if (count_ > 0) return {};
    LB_ASSIGN_OR_RETURN(const std::string bytes, header());
    return sink_->write(bytes);
  }
  Status write(std::string_view bytes, std::size_t rows) {
    count_ += rows;
    return sink_->write(bytes);
  }
  Status finish() {
    LB_ASSIGN_OR_RETURN(const std::string bytes, header());
    LB_RETURN_IF_ERROR(sink_->rewrite(0, bytes));
    return sink_->finish();
  }

 private:
  Result<std::string> header() const {
    const std::int64_t dims[] = {static_cast<std::int64_t>(count_), static_cast<std::int64_t>(row_)};
    return app::make_npy_header(type_, std::span(dims).first(row_ > 0 ? 2 : 1), kHeaderSize);
  }

  std::unique_ptr<ByteSink> sink_;
  ElementType type_;
  std::size_t row_;
  std::uint64_t count_;
};

class NpyWriter final : public VectorWriter {
 public:
  NpyWriter(std::vector<WrittenOutput> outputs, IdSink ids) : outputs_(std::move(outputs)), ids_(std::move(ids)) {}

  Status begin(std::vector<std::unique_ptr<ByteSink>> sinks, std::uint64_t first) {
    auto sink = sinks.begin();
    const auto add = [&](ElementType type, std::size_t row) -> Status {
      LB_ASSIGN_OR_RETURN(auto rewriting, rewritable(std::move(*sink++)));
      return files_.emplace_back(std::move(rewriting), type, row, first).begin();
    };
    for (const WrittenOutput& output : outputs_) {
      LB_RETURN_IF_ERROR(add(ElementType::kF32, output.dimension));
      if (output.form == ResultForm::kRaggedRows) LB_RETURN_IF_ERROR(add(ElementType::kI64, 0));
    }
    return {};
  }
  Status write(std::span<const ResultWindow> results, std::size_t texts, std::span<const std::string> ids) override {
    LB_RETURN_IF_ERROR(write_ids(ids, ids_));
    auto file = files_.begin();
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      const ResultWindow& result = results[k];
      LB_RETURN_IF_ERROR((file++)->write(bytes_of(result.vectors), result.vectors.size() / outputs_[k].dimension));
      if (outputs_[k].form != ResultForm::kRaggedRows) continue;
      const std::vector<std::int64_t> counts(result.vector_counts.begin(), result.vector_counts.end());
      LB_RETURN_IF_ERROR((file++)->write(bytes_of(std::span(counts)), texts));
    }
    return {};
  }
  Status finish() override {
    for (NpyFile& file : files_)
      LB_RETURN_IF_ERROR(file.finish());
    return {};
  }

 private:
  const std::vector<WrittenOutput> outputs_;
  IdSink ids_;
  std::vector<NpyFile> files_;  // those of files_of()
};

class RawWriter final : public VectorWriter {
 public:
  RawWriter(std::unique_ptr<ByteSink> sink, IdSink ids) : sink_(std::move(sink)), ids_(std::move(ids)) {}
  Status write(std::span<const ResultWindow> results, std::size_t /*texts*/,
               std::span<const std::string> ids) override {
    LB_RETURN_IF_ERROR(write_ids(ids, ids_));
    return sink_->write(bytes_of(results.front().vectors));
  }
  Status finish() override { return sink_->finish(); }

 private:
  std::unique_ptr<ByteSink> sink_;
  IdSink ids_;
};

}  // namespace

Status check_format(VectorFormat format, std::span<const WrittenOutput> outputs) {
  const auto refused = [](std::string why) {
    return Status(StatusCode::kInvalidArgument, why + "; --output-format jsonl holds all of them");
  };
  if (format == VectorFormat::kJsonl) return {};
  if (format == VectorFormat::kParquet) return refused("this program does not write Parquet");
  for (const WrittenOutput& output : outputs) {
    if (output.form == ResultForm::kSparseRow) {
      return refused(fmt::format("the output '{}' has sparse vectors, which {} does not hold", output.name,
                                 core::word_of(format)));
    }
    if (format == VectorFormat::kF32 && output.form == ResultForm::kRaggedRows) {
      return refused(fmt::format("the output '{}' has a vector for each token, which f32 does not hold", output.name));
    }
  }
  if (format == VectorFormat::kF32 && outputs.size() > 1) return refused("f32 holds the rows of one output");
  return {};
}

std::vector<std::string> files_of(VectorFormat format, const std::string& file,
                                  std::span<const WrittenOutput> outputs) {
  const bool is_single = outputs.size() == 1 && outputs.front().form != ResultForm::kRaggedRows;
  if (format != VectorFormat::kNpy || is_single) return {file};
  constexpr std::string_view kEnding = ".npy";
  const std::string_view stem =
      std::string_view(file).substr(0, file.size() - (file.ends_with(kEnding) ? kEnding.size() : 0));
  std::vector<std::string> files;
  for (const WrittenOutput& output : outputs) {
    files.push_back(fmt::format("{}.{}{}", stem, output.name, kEnding));
    if (output.form == ResultForm::kRaggedRows)
      files.push_back(fmt::format("{}.{}.counts{}", stem, output.name, kEnding));
  }
  return files;
}

Result<std::unique_ptr<VectorWriter>> VectorWriter::make(VectorFormat format,
                                                         std::vector<std::unique_ptr<ByteSink>> sinks,
                                                         std::vector<WrittenOutput> outputs, std::uint64_t first,
                                                         IdSink ids) {
  LB_RETURN_IF_ERROR(check_format(format, outputs));
  if (format == VectorFormat::kF32)
    return std::unique_ptr<VectorWriter>(std::make_unique<RawWriter>(std::move(sinks.front()), std::move(ids)));
  if (format == VectorFormat::kJsonl) {
    return std::unique_ptr<VectorWriter>(
        std::make_unique<JsonLineWriter>(std::move(sinks.front()), std::move(outputs), first));
  }
  auto writer = std::make_unique<NpyWriter>(std::move(outputs), std::move(ids));
  LB_RETURN_IF_ERROR(writer->begin(std::move(sinks), first));
  return std::unique_ptr<VectorWriter>(std::move(writer));
}

}  // namespace latebind::cli
