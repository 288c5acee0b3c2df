#include "embedding/weights/gguf/header.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "core/model/part_reader.h"
#include "core/text/git_lfs.h"
#include "core/text/quote.h"
#include "embedding/weights/gguf/types.h"

namespace latebind::embedding {
namespace {

using core::quoted;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::uint32_t kGgufVersionMin = 2;
constexpr std::uint32_t kGgufVersionMax = 3;
constexpr std::uint64_t kGgufAlignment = 32;
constexpr std::uint64_t kGgufAlignmentMax = std::uint64_t{1} << 20;
// Longer than most headers of embedding models. Longer headers are read again.
constexpr std::size_t kFirstGgufRead = std::size_t{1} << 20;
}  // namespace

// Reads the first bytes of a file. If they end too early, `is_cut()` is true, and the status is an error.
class GgufHeader::Parser {
 public:
  Parser(std::span<const std::byte> bytes, std::uint64_t file_size, GgufHeader& header)
      : all_(bytes), rest_(bytes), file_size_(file_size), header_(header) {}

  Status parse() {
    LB_RETURN_IF_ERROR(read_start());
    for (std::uint64_t i = 0; i < value_count_; ++i)
      LB_RETURN_IF_ERROR(read_value());
    for (std::uint64_t i = 0; i < tensor_count_; ++i)
      LB_RETURN_IF_ERROR(read_tensor());
    return finish();
  }
  [[nodiscard]] bool is_cut() const { return is_cut_; }

 private:
  static Status invalid(std::string_view what) {
    return {StatusCode::kInvalidModel, fmt::format("not a GGUF file, or damaged: {}", what)};
  }
  Status cut(std::string_view in) {
    is_cut_ = true;
    return invalid(fmt::format("it ends in {}; is it cut short?", in));
  }
  // std::nullopt if bytes are missing.
  std::optional<std::span<const std::byte>> take(std::uint64_t size) {
    if (size > rest_.size()) return std::nullopt;
    const auto taken = rest_.first(static_cast<std::size_t>(size));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  template <class Number>
  std::optional<Number> number() {
    const auto bytes = take(sizeof(Number));
    return bytes ? std::optional(gguf_number_at<Number>(bytes->data())) : std::nullopt;
  }
  // Reads a text of at most kBytesMax bytes.
  std::optional<std::string_view> text() {
    const auto size = number<std::uint64_t>();
    const auto bytes = size ? take(*size) : std::nullopt;
    return bytes ? std::optional(gguf_text_of(*bytes)) : std::nullopt;
  }

  Status read_start();
  Status read_value();
  Status read_array(std::string_view key);
  Status read_tensor();
  Status read_shape(GgufTensor& tensor);
  Status read_split();
  Status finish();
  Status check_ranges(std::uint64_t data_start);

  std::span<const std::byte> all_;
  std::span<const std::byte> rest_;
  std::uint64_t file_size_;
  GgufHeader& header_;
  std::uint64_t value_count_ = 0;
  std::uint64_t tensor_count_ = 0;
  bool is_cut_ = false;
};

Status GgufHeader::Parser::read_start() {
  const auto magic = take(kGgufMagic.size());
  if (!magic || gguf_text_of(*magic) != kGgufMagic)
    return {StatusCode::kInvalidModel, "not a GGUF file: its first bytes are not GGUF"};
  const auto version = number<std::uint32_t>();
  const auto tensors = number<std::uint64_t>();
  const auto values = number<std::uint64_t>();
  if (!version || !tensors || !values) return cut("its first bytes");
  if ((*version & 0xFFFFU) == 0 && *version != 0)
    return {StatusCode::kUnsupported, "its numbers are big-endian; only little-endian ones are read"};
  if (*version < kGgufVersionMin || *version > kGgufVersionMax) {
    return {StatusCode::kUnsupported,
            fmt::format("version {} of GGUF; supported are {} and {}", *version, kGgufVersionMin, kGgufVersionMax)};
  }
  if (*values > kValuesMax) return invalid(fmt::format("{} keys, at most {} are read", *values, kValuesMax));
  if (*tensors > kTensorsMax) return invalid(fmt::format("{} tensors, at most {} are read", *tensors, kTensorsMax));
  tensor_count_ = *tensors;
  value_count_ = *values;
  return {};
}

Status GgufHeader::Parser::read_value() {
  const auto key = text();
  const auto type = key ? number<std::uint32_t>() : std::nullopt;
  if (!type) return cut("its metadata");
  if (key->size() > kNameBytesMax) return invalid(fmt::format("a key of {} bytes", key->size()));
  if (header_.values_.contains(*key)) return invalid(fmt::format("the key {} occurs twice", quoted(*key)));
  if (!is_gguf_value_type(*type))
    return invalid(fmt::format("the value of {} has the unknown type {}", quoted(*key), *type));
  const auto value_type = static_cast<GgufValueType>(*type);
  if (value_type == GgufValueType::kArray) return read_array(*key);
  if (value_type == GgufValueType::kString) {
    const auto value = text();
    if (!value) return cut(fmt::format("the value of {}", quoted(*key)));
    header_.values_.emplace(*key, *value);
    return {};
  }
  const auto bytes = take(bytes_of_gguf_value(static_cast<GgufValueType>(*type)));
  if (!bytes) return cut(fmt::format("the value of {}", quoted(*key)));
  header_.values_.emplace(*key, gguf_scalar_at(value_type, bytes->data()));
  return {};
}

Status GgufHeader::Parser::read_array(std::string_view key) {
  const auto type = number<std::uint32_t>();
  const auto count = number<std::uint64_t>();
  if (!type || !count) return cut(fmt::format("the value of {}", quoted(key)));
  const bool is_known = is_gguf_value_type(*type) && *type != static_cast<std::uint32_t>(GgufValueType::kArray);
  if (!is_known) return invalid(fmt::format("{} is an array of the unsupported type {}", quoted(key), *type));
  if (*count > kArrayMax) return invalid(fmt::format("{} has {} elements", quoted(key), *count));
  GgufArray array{.type = static_cast<GgufValueType>(*type), .count = static_cast<std::size_t>(*count)};
  const auto before = rest_;
  if (array.type == GgufValueType::kString) {
    for (std::size_t i = 0; i < array.count; ++i) {
      if (!text()) return cut(fmt::format("the value of {}", quoted(key)));
    }
  } else if (!take(*count * bytes_of_gguf_value(static_cast<GgufValueType>(*type)))) {
    return cut(fmt::format("the value of {}", quoted(key)));
  }
  array.bytes = before.first(before.size() - rest_.size());
  header_.values_.emplace(key, array);
  return {};
}

Status GgufHeader::Parser::read_shape(GgufTensor& tensor) {
  const auto rank = number<std::uint32_t>();
  if (!rank) return cut("its list of tensors");
  if (*rank > kRankMax) {
    return invalid(
        fmt::format("tensor {} has {} dimensions, at most {} are read", quoted(tensor.name), *rank, kRankMax));
  }
  std::uint64_t elements = 1;
  for (std::uint32_t i = 0; i < *rank; ++i) {
    const auto dim = number<std::uint64_t>();
    if (!dim) return cut("its list of tensors");
    constexpr std::uint64_t kElementsMax = std::uint64_t{1} << 48;
    if (*dim > kElementsMax || (*dim != 0 && elements > kElementsMax / *dim)) {
      return invalid(fmt::format("tensor {} has too many elements", quoted(tensor.name)));
    }
    elements *= *dim;
    tensor.shape.insert(tensor.shape.begin(), static_cast<std::int64_t>(*dim));
  }
  const auto type = number<std::uint32_t>();
  const auto offset = number<std::uint64_t>();
  if (!type || !offset) return cut("its list of tensors");
  tensor.type = *type;
  tensor.offset = *offset;
  if (const GgufType* const known = find_gguf_type(*type)) {
    const std::uint64_t row = tensor.shape.empty() ? 1 : static_cast<std::uint64_t>(tensor.shape.back());
    if (row % known->elements != 0) {
      return invalid(fmt::format("tensor {} has rows of {} numbers, which is no multiple of the {} in a block of {}",
                                 quoted(tensor.name), row, known->elements, known->name));
    }
    tensor.size = elements / known->elements * known->bytes;
  }
  return {};
}

Status GgufHeader::Parser::read_tensor() {
  const auto name = text();
  if (!name) return cut("its list of tensors");
  if (name->size() > kNameBytesMax) return invalid(fmt::format("a tensor's name of {} bytes", name->size()));
  GgufTensor tensor{.name = *name};
  LB_RETURN_IF_ERROR(read_shape(tensor));
  if (!header_.tensors_.emplace(*name, std::move(tensor)).second)
    return invalid(fmt::format("the tensor {} occurs twice", quoted(*name)));
  return {};
}

Status GgufHeader::Parser::read_split() {
  LB_ASSIGN_OR_RETURN(const auto count, header_.whole("split.count"));
  LB_ASSIGN_OR_RETURN(const auto number, header_.whole("split.no"));
  LB_ASSIGN_OR_RETURN(const auto tensors, header_.whole("split.tensors.count"));
  GgufSplit& split = header_.split_;
  split = {.number = number.value_or(0), .count = count.value_or(1), .tensors = tensors.value_or(0)};
  if (split.count == 0) split.count = 1;
  if (split.count > kPiecesMax)
    return invalid(fmt::format("'split.count' is {}; at most {} are read", split.count, kPiecesMax));
  if (split.number < split.count) return {};
  return invalid(fmt::format("'split.no' is {}, and 'split.count' is {}", split.number, split.count));
}

Status GgufHeader::Parser::finish() {
  LB_RETURN_IF_ERROR(read_split());
  LB_ASSIGN_OR_RETURN(const auto architecture, header_.text("general.architecture"));
  header_.architecture_ = architecture.value_or("");
  LB_ASSIGN_OR_RETURN(const auto given, header_.whole("general.alignment"));
  const std::uint64_t alignment = given.value_or(kGgufAlignment);
  if (!std::has_single_bit(alignment) || alignment < 8 || alignment > kGgufAlignmentMax)
    return invalid(fmt::format("'general.alignment' is {}", alignment));
  const std::uint64_t end = all_.size() - rest_.size();
  const std::uint64_t data_start = (end + alignment - 1) / alignment * alignment;
  for (auto& [name, tensor] : header_.tensors_) {
    if (tensor.offset % alignment != 0) {
      return invalid(fmt::format("tensor {} is at the place {}, which is no multiple of the alignment {}", quoted(name),
                                 tensor.offset, alignment));
    }
    const bool is_inside = data_start <= file_size_ && tensor.offset <= file_size_ - data_start &&
                           tensor.size <= file_size_ - data_start - tensor.offset;
    if (!is_inside && tensor.size > 0) {
      return invalid(fmt::format("tensor {}, {} bytes, is outside the file's {}; is it cut short?", quoted(name),
                                 tensor.size, file_size_));
    }
    tensor.offset = is_inside ? tensor.offset + data_start : 0;
  }
  return check_ranges(data_start);
}

Status GgufHeader::Parser::check_ranges(std::uint64_t data_start) {
  std::vector<const GgufTensor*> sorted;
  for (const auto& [name, tensor] : header_.tensors_) {
    if (tensor.size > 0) sorted.push_back(&tensor);
  }
  std::ranges::sort(sorted, {}, &GgufTensor::offset);
  std::uint64_t end = data_start;
  for (const GgufTensor* const tensor : sorted) {
    if (tensor->offset < end) return invalid(fmt::format("tensor {} overlaps another one", quoted(tensor->name)));
    end = tensor->offset + tensor->size;
  }
  return {};
}

Result<GgufHeader> GgufHeader::read(const core::FilePart& part, const std::string& name) {
  const core::PartReader file(part);
  const std::uint64_t size = part.bytes.bytes.size();
  for (std::size_t wanted = kFirstGgufRead;; wanted = std::min(wanted * 8, kBytesMax)) {
    auto bytes = std::make_shared<std::string>(static_cast<std::size_t>(std::min<std::uint64_t>(wanted, size)), '\0');
    if (!file.read(0, std::as_writable_bytes(std::span(*bytes)))) return file.why_not();
    if (core::is_git_lfs_pointer(std::string_view(*bytes).substr(0, core::kGitLfsPointerBegin)))
      return Status(StatusCode::kInvalidModel, fmt::format("{}: {}", name, core::kGitLfsPointer));
    GgufHeader header;
    header.name_ = name;
    Parser parser(std::as_bytes(std::span(*bytes)), size, header);
    const Status status = parser.parse();
    header.texts_ = {bytes};
    if (status.ok()) return header;
    if (!parser.is_cut() || bytes->size() == size) return status.with_context(name);
    if (wanted == kBytesMax) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("{}: its header has more than the {} bytes supported", name, kBytesMax));
    }
  }
}

Status GgufHeader::add_piece(const GgufHeader& piece) {
  const std::size_t next = texts_.size();
  if (piece.split_.number != next || piece.split_.count != split_.count) {
    return {StatusCode::kInvalidModel,
            fmt::format("{}: 'split.no' is {} and 'split.count' is {}, but it should be piece {} of {} from 0 on",
                        piece.name_, piece.split_.number, piece.split_.count, next, split_.count)};
  }
  for (const auto& [name, tensor] : piece.tensors_) {
    if (!tensors_.emplace(name, tensor).second) {
      return {StatusCode::kInvalidModel,
              fmt::format("{}: the tensor {} is in another piece, too", piece.name_, quoted(name))};
    }
  }
  texts_.push_back(piece.texts_.front());
  return {};
}

const GgufValue* GgufHeader::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

const GgufTensor* GgufHeader::find_tensor(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

}  // namespace latebind::embedding
