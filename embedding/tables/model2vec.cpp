#include "embedding/tables/model2vec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/tensor/half.h"
#include "core/tensor/shared_bytes.h"
#include "embedding/architectures/encoder.h"
#include "embedding/weights/safetensors.h"

namespace latebind::embedding {
namespace {

using core::ElementType;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr const char* kEmbeddings = "embeddings";
constexpr const char* kMapping = "mapping";
constexpr const char* kWeights = "weights";
constexpr std::uint64_t kWrittenBytesMax = std::uint64_t{1} << 30;

template <class T>
T value_at(std::span<const std::byte> bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

Status wrong(const TensorFile& weights, StatusCode code, const std::string& what) {
  return {code, fmt::format("{}: {}", weights.name(), what)};
}

// Returns the length of a list with a number for each token, or std::nullopt if the file has no such list.
Result<std::optional<std::size_t>> length_of(const TensorFile& weights, const char* name) {
  const auto shape = weights.shape_of(name);
  if (!shape) return std::optional<std::size_t>();
  if (shape->size() != 1 || (*shape)[0] <= 0 || static_cast<std::size_t>((*shape)[0]) > kVocabularyMax) {
    return wrong(
        weights, StatusCode::kInvalidModel,
        fmt::format("'{}' has the shape [{}], a number for each token was expected", name, fmt::join(*shape, ",")));
  }
  return std::optional(static_cast<std::size_t>((*shape)[0]));
}

// Reads the row of each token.
Result<std::vector<std::uint32_t>> read_rows(const TensorFile& weights, std::size_t tokens, std::size_t row_count) {
  std::vector<std::uint32_t> rows(tokens);
  const auto stored = weights.stored(kMapping);
  for (std::size_t token = 0; token < tokens; ++token) {
    std::int64_t row = static_cast<std::int64_t>(token);
    if (stored && stored->type == "I64") {
      row = value_at<std::int64_t>(stored->bytes, token);
    } else if (stored && stored->type == "I32") {
      row = value_at<std::int32_t>(stored->bytes, token);
    } else if (stored) {
      return wrong(weights, StatusCode::kUnsupported,
                   fmt::format("'{}' has the type {}; I32 and I64 are supported", kMapping, stored->type));
    }
    if (row < 0 || static_cast<std::uint64_t>(row) >= row_count) {
      return wrong(weights, StatusCode::kInvalidModel,
                   fmt::format("'{}' has the row {} for the token {}, and '{}' has {} rows", kMapping, row, token,
                               kEmbeddings, row_count));
    }
    rows[token] = static_cast<std::uint32_t>(row);
  }
  return rows;
}

float number_at(ElementType type, std::span<const std::byte> bytes, std::size_t i) {
  switch (type) {
    case ElementType::kF16:
      return core::from_f16(value_at<std::uint16_t>(bytes, i));
    case ElementType::kBF16:
      return core::from_bf16(value_at<std::uint16_t>(bytes, i));
    default:
      return value_at<float>(bytes, i);
  }
}

// Reads the weight of each token, without rounding.
Result<std::vector<double>> read_weights(const TensorFile& weights, std::size_t tokens) {
  const auto stored = weights.stored(kWeights);
  std::vector<double> numbers(tokens);
  if (stored->type == "F64") {
    for (std::size_t token = 0; token < tokens; ++token)
      numbers[token] = value_at<double>(stored->bytes, token);
    return numbers;
  }
  const std::int64_t length = static_cast<std::int64_t>(tokens);
  LB_ASSIGN_OR_RETURN(const StoredTensor list, weights.find(kWeights, {&length, 1}));
  for (std::size_t token = 0; token < tokens; ++token)
    numbers[token] = number_at(list.type, list.bytes, token);
  return numbers;
}

// A file with one tensor, whose numbers the caller writes after its header.
class WrittenTable {
 public:
  WrittenTable(std::string_view type, const TableSize& size, std::size_t number_bytes) {
    const std::size_t bytes = size.tokens * size.width * number_bytes;
    std::string head = fmt::format(R"({{"{}":{{"dtype":"{}","shape":[{},{}],"data_offsets":[0,{}]}}}})", kStaticTable,
                                   type, size.tokens, size.width, bytes);
    head.resize((head.size() + 7) / 8 * 8, ' ');
    const std::uint64_t length = head.size();
    begin_ = sizeof(length) + head.size();
    file_.resize(begin_ + bytes);
    std::memcpy(file_.data(), &length, sizeof(length));
    std::memcpy(file_.data() + sizeof(length), head.data(), head.size());
  }

  [[nodiscard]] char* numbers() { return file_.data() + begin_; }
  [[nodiscard]] Result<TensorFile> finish(const std::string& name) && {
    LB_ASSIGN_OR_RETURN(Safetensors made,
                        Safetensors::from_part({.bytes = core::SharedBytes::from_string(std::move(file_))}, name));
    return TensorFile(std::move(made));
  }

 private:
  std::string file_;
  std::size_t begin_ = 0;
};

}  // namespace

Result<bool> is_compressed_table(const TensorFile& weights) {
  for (const char* name : {kMapping, kWeights}) {
    if (!weights.contains(name)) continue;
    if (!weights.contains(kStaticTable)) return true;
    return wrong(weights, StatusCode::kUnsupported,
                 fmt::format("the tensor '{}' of model2vec beside '{}' is not supported; supported is one beside '{}'",
                             name, kStaticTable, kEmbeddings));
  }
  return false;
}

Result<TableSize> size_of_compressed_table(const TensorFile& weights) {
  const auto shape = weights.shape_of(kEmbeddings);
  if (!shape) {
    return wrong(weights, StatusCode::kInvalidModel,
                 fmt::format("neither '{}' nor '{}', one of which static embeddings have", kStaticTable, kEmbeddings));
  }
  if (shape->size() != 2 || (*shape)[0] <= 0 || static_cast<std::size_t>((*shape)[0]) > kVocabularyMax ||
      (*shape)[1] <= 0 || static_cast<std::size_t>((*shape)[1]) > kHiddenSizeMax) {
    return wrong(weights, StatusCode::kInvalidModel,
                 fmt::format("'{}' has the shape [{}], a table was expected", kEmbeddings, fmt::join(*shape, ",")));
  }
  LB_ASSIGN_OR_RETURN(const auto mapped, length_of(weights, kMapping));
  LB_ASSIGN_OR_RETURN(const auto weighed, length_of(weights, kWeights));
  const TableSize size{.tokens = mapped.value_or(static_cast<std::size_t>((*shape)[0])),
                       .width = static_cast<std::size_t>((*shape)[1])};
  if (weighed && *weighed != size.tokens) {
    return wrong(weights, StatusCode::kInvalidModel,
                 fmt::format("'{}' has {} numbers for {} tokens", kWeights, *weighed, size.tokens));
  }
  if (std::uint64_t{size.tokens} * size.width * sizeof(float) > kWrittenBytesMax) {
    return wrong(weights, StatusCode::kUnsupported,
                 fmt::format("{} vectors of {} numbers are more than the {} bytes supported of a compressed table",
                             size.tokens, size.width, kWrittenBytesMax));
  }
  return size;
}

Result<TensorFile> written_out(const TensorFile& weights) {
  LB_ASSIGN_OR_RETURN(const TableSize size, size_of_compressed_table(weights));
  const std::vector<std::int64_t> shape = *weights.shape_of(kEmbeddings);
  LB_ASSIGN_OR_RETURN(const StoredTensor table, weights.find(kEmbeddings, shape));
  LB_ASSIGN_OR_RETURN(const auto rows, read_rows(weights, size.tokens, static_cast<std::size_t>(shape[0])));
  if (!weights.contains(kWeights)) {
    const std::size_t row_bytes = table.bytes.size() / static_cast<std::size_t>(shape[0]);
    WrittenTable written(weights.stored(kEmbeddings)->type, size, row_bytes / size.width);
    for (std::size_t token = 0; token < size.tokens; ++token)
      std::memcpy(written.numbers() + token * row_bytes, table.bytes.data() + rows[token] * row_bytes, row_bytes);
    return std::move(written).finish(weights.name());
  }
  LB_ASSIGN_OR_RETURN(const auto factors, read_weights(weights, size.tokens));
  WrittenTable written("F32", size, sizeof(float));
  for (std::size_t token = 0; token < size.tokens; ++token) {
    for (std::size_t i = 0; i < size.width; ++i) {
      const double vector = number_at(table.type, table.bytes, rows[token] * size.width + i);
      // Rounds once, from the exact product of two f32 numbers, or from the product in f64.
      const auto value = static_cast<float>(vector * factors[token]);
      std::memcpy(written.numbers() + (token * size.width + i) * sizeof(float), &value, sizeof(value));
    }
  }
  return std::move(written).finish(weights.name());
}

}  // namespace latebind::embedding
