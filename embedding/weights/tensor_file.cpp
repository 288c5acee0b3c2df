#include "embedding/weights/tensor_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/text/nearest_word.h"
#include "core/text/quote.h"

namespace latebind::embedding {
namespace {

using core::ElementType;
using core::printable;
using core::Result;
using core::Status;
using core::StatusCode;

struct Dtype {
  std::string_view name;
  unsigned bits;
  std::optional<ElementType> type;  // set for the types that Latebind computes with
};

constexpr std::array kDtypes{
    Dtype{"F32", 32, ElementType::kF32}, Dtype{"F16", 16, ElementType::kF16}, Dtype{"BF16", 16, ElementType::kBF16},
    Dtype{"F64", 64, std::nullopt},      Dtype{"I64", 64, std::nullopt},      Dtype{"U64", 64, std::nullopt},
    Dtype{"I32", 32, std::nullopt},      Dtype{"U32", 32, std::nullopt},      Dtype{"I16", 16, std::nullopt},
    Dtype{"U16", 16, std::nullopt},      Dtype{"I8", 8, std::nullopt},        Dtype{"U8", 8, std::nullopt},
    Dtype{"BOOL", 8, std::nullopt},      Dtype{"F8_E4M3", 8, std::nullopt},   Dtype{"F8_E5M2", 8, std::nullopt},
    Dtype{"F8_E8M0", 8, std::nullopt},   Dtype{"C64", 64, std::nullopt},      Dtype{"F6_E2M3", 6, std::nullopt},
    Dtype{"F6_E3M2", 6, std::nullopt},   Dtype{"F4", 4, std::nullopt}};

// The names of the types that Latebind computes with, for messages.
std::vector<std::string_view> read_types() {
  std::vector<std::string_view> names;
  for (const Dtype& dtype : kDtypes) {
    if (dtype.type) names.push_back(dtype.name);
  }
  return names;
}

const Dtype* find_dtype(std::string_view name) {
  const auto* found = std::ranges::find(kDtypes, name, &Dtype::name);
  return found == kDtypes.end() ? nullptr : found;
}

}  // namespace

std::optional<unsigned> bits_of_type(std::string_view name) {
  const Dtype* const found = find_dtype(name);
  return found == nullptr ? std::nullopt : std::optional(found->bits);
}

std::optional<std::uint64_t> bytes_of_shape(std::span<const std::int64_t> shape, unsigned bits) {
  std::uint64_t total = bits;
  for (const std::int64_t dim : shape) {
    const auto count = static_cast<std::uint64_t>(dim);
    if (count != 0 && total > std::numeric_limits<std::uint64_t>::max() / count) return std::nullopt;
    total *= count;
  }
  if (total % 8 != 0) return std::nullopt;
  return total / 8;
}

std::string place_of_tensor(std::string_view file, std::string_view tensor) {
  return fmt::format("{}: tensor '{}'", file, printable(tensor));
}

std::span<const std::byte> TensorFile::bytes_of(const Entry& entry) const {
  const auto size = static_cast<std::size_t>(entry.end - entry.begin);
  if (entry.copied) copies_.fill();
  if (entry.copied) return copies_.bytes.bytes.subspan(static_cast<std::size_t>(entry.begin), size);
  return bytes().subspan(data_start_ + static_cast<std::size_t>(entry.begin), size);
}

std::vector<std::string> TensorFile::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_)
    names.push_back(name);
  return names;
}

bool TensorFile::contains(std::string_view name) const {
  return entries_.find(name) != entries_.end();
}

std::optional<std::vector<std::int64_t>> TensorFile::shape_of(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? std::nullopt : std::optional(found->second.shape);
}

std::optional<TensorFile::Stored> TensorFile::stored(std::string_view name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end() || !found->second.refusal.empty()) return std::nullopt;
  return Stored{found->second.type, bytes_of(found->second)};
}

Result<StoredTensor> TensorFile::find(std::string_view name, std::span<const std::int64_t> shape) const {
  LB_ASSIGN_OR_RETURN(StoredTensor tensor, locate(name, shape));
  tensor.bytes = bytes_of(entries_.find(name)->second);
  return tensor;
}

Result<StoredTensor> TensorFile::locate(std::string_view name, std::span<const std::int64_t> shape) const {
  const auto found = entries_.find(name);
  const std::string shown = name_in_file_ ? name_in_file_(name) : std::string(name);
  if (found == entries_.end()) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{}: no tensor '{}', which this kind of model needs", name_, printable(shown)));
  }
  const Entry& entry = found->second;
  const Dtype* dtype = find_dtype(entry.type);
  if (dtype == nullptr || !dtype->type) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{} has the type {}{}", place_of_tensor(name_, shown), printable(entry.type),
                              core::supported_instead(entry.type, read_types())));
  }
  if (!std::ranges::equal(entry.shape, shape)) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{} has the shape [{}], {} asks for [{}]", place_of_tensor(name_, shown),
                              fmt::join(entry.shape, ","), sizes_from_, fmt::join(shape, ",")));
  }
  if (!entry.refusal.empty()) {
    return Status(StatusCode::kUnsupported, fmt::format("{} {}", place_of_tensor(name_, shown), entry.refusal));
  }
  return StoredTensor{.name = std::string(name),
                      .type = *dtype->type,
                      .shape = entry.shape,
                      .copied = entry.copied,
                      .offset = entry.copied ? entry.begin : data_start_ + entry.begin,
                      .bytes = {}};
}

}  // namespace latebind::embedding
