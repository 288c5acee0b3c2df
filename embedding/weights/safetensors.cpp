#include "embedding/weights/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "core/json/read.h"
#include "core/model/part_reader.h"
#include "core/platform/files/folders.h"
#include "core/text/git_lfs.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"

namespace latebind::embedding {
namespace {

using core::ElementType;
using core::Json;
using core::parse_json;
using core::printable;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::size_t kLengthBytes = 8;

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

// Returns the bytes of a tensor, or std::nullopt if the size overflows or is not a whole number of bytes.
std::optional<std::uint64_t> bytes_of(std::span<const std::int64_t> shape, unsigned bits) {
  std::uint64_t total = bits;
  for (const std::int64_t dim : shape) {
    const auto count = static_cast<std::uint64_t>(dim);
    if (count != 0 && total > std::numeric_limits<std::uint64_t>::max() / count) return std::nullopt;
    total *= count;
  }
  if (total % 8 != 0) return std::nullopt;
  return total / 8;
}

Result<std::vector<std::int64_t>> read_shape(const Json& tensor) {
  const auto* const found = core::find_member(tensor, "shape");
  if (found == nullptr || !found->is_array()) return Status(StatusCode::kInvalidModel, "no array 'shape'");
  if (found->size() > core::kRankMax) {
    return Status(StatusCode::kInvalidModel, fmt::format("{} dimensions, at most {}", found->size(), core::kRankMax));
  }
  std::vector<std::int64_t> shape;
  for (const Json& dim : *found) {
    if (!dim.is_number_unsigned() || dim.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
      return Status(StatusCode::kInvalidModel, fmt::format("the dimension {} is no size", printable(dim.dump())));
    }
    shape.push_back(dim.get<std::int64_t>());
  }
  return shape;
}

std::string place_of(std::string_view file, std::string_view tensor) {
  return fmt::format("{}: tensor '{}'", file, printable(tensor));
}

}  // namespace

Result<Safetensors> Safetensors::open(const std::filesystem::path& file) {
  LB_ASSIGN_OR_RETURN(auto part, core::FilePart::open(file));
  return from_part(std::move(part), platform::path_to_utf8(file));
}

Result<Safetensors> Safetensors::from_part(core::FilePart part, std::string name) {
  Safetensors tensors;
  tensors.name_ = std::move(name);
  tensors.part_ = std::move(part);
  LB_RETURN_IF_ERROR(tensors.read_header());
  return tensors;
}

Result<Safetensors> Safetensors::from_bytes(std::span<const std::byte> bytes, std::string name) {
  core::FilePart part;
  part.where.size = bytes.size();
  part.bytes.bytes = bytes;
  return from_part(std::move(part), std::move(name));
}

Status Safetensors::read_header() {
  const auto invalid = [&](std::string_view what) {
    return Status(StatusCode::kInvalidModel, fmt::format("{}: not a safetensors file, or damaged: {}", name_, what));
  };
  if (bytes().size() < kLengthBytes) return invalid(fmt::format("only {} bytes long", bytes().size()));
  const core::PartReader file(part_);
  std::array<std::byte, kLengthBytes> length{};
  if (!file.read(0, length)) return file.why_not();
  std::uint64_t header_bytes = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;)
    header_bytes = header_bytes << 8U | std::to_integer<unsigned>(length[i]);
  if (header_bytes > kHeaderBytesMax) {
    // The first bytes of a text file, such as a Git LFS pointer, are such a length.
    std::string begin(std::min(bytes().size(), core::kGitLfsPointerBegin), '\0');
    if (!file.read(0, std::as_writable_bytes(std::span(begin)))) return file.why_not();
    if (core::is_git_lfs_pointer(begin))
      return Status(StatusCode::kInvalidModel, fmt::format("{}: {}", name_, core::kGitLfsPointer));
    return invalid(fmt::format("a header of {} bytes, at most {} are read", header_bytes, kHeaderBytesMax));
  }
  if (header_bytes > bytes().size() - kLengthBytes) {
    return invalid(fmt::format("a header of {} bytes in a file of {}; is it cut short?", header_bytes, bytes().size()));
  }
  data_start_ = kLengthBytes + static_cast<std::size_t>(header_bytes);

  std::string text(static_cast<std::size_t>(header_bytes), '\0');
  if (!file.read(kLengthBytes, std::as_writable_bytes(std::span(text)))) return file.why_not();
  LB_ASSIGN_OR_RETURN(const Json header, parse_json(text, name_, {.bytes_max = kHeaderBytesMax, .depth_max = 4}));
  if (!header.is_object()) return invalid("the header is no JSON object");

  for (const auto& [key, tensor] : header.members()) {
    const std::string& name = key;
    if (name == "__metadata__") continue;
    const auto refused = [&](std::string_view what) {
      return Status(StatusCode::kInvalidModel, fmt::format("{}: {}", place_of(name_, name), what));
    };
    if (!tensor.is_object()) return refused("no JSON object");
    Entry entry;
    const auto* const type = core::find_member(tensor, "dtype");
    if (type == nullptr || !type->is_string()) return refused("no text 'dtype'");
    entry.type = type->get<std::string>();
    auto shape = read_shape(tensor);
    if (!shape.ok()) return shape.status().with_context(place_of(name_, name));
    entry.shape = *std::move(shape);
    const auto* const offsets = core::find_member(tensor, "data_offsets");
    if (offsets == nullptr || !offsets->is_array() || offsets->size() != 2 || !(*offsets)[0].is_number_unsigned() ||
        !(*offsets)[1].is_number_unsigned()) {
      return refused("'data_offsets' must be two whole numbers");
    }
    entry.begin = (*offsets)[0].get<std::uint64_t>();
    entry.end = (*offsets)[1].get<std::uint64_t>();
    const std::uint64_t data_bytes = bytes().size() - data_start_;
    if (entry.begin > entry.end || entry.end > data_bytes) {
      return refused(fmt::format("its data, bytes {} to {}, is outside the file's {}; is the file cut short?",
                                 entry.begin, entry.end, data_bytes));
    }
    if (const Dtype* known = find_dtype(entry.type); known != nullptr) {
      const auto expected = bytes_of(entry.shape, known->bits);
      if (!expected || *expected != entry.end - entry.begin) {
        return refused(fmt::format("{} [{}] does not fit its {} bytes of data", entry.type, fmt::join(entry.shape, ","),
                                   entry.end - entry.begin));
      }
    }
    entries_.emplace(name, std::move(entry));
  }
  return check_ranges();
}

// The format has no gaps: tensors follow each other, and the last one ends with the file.
Status Safetensors::check_ranges() const {
  std::vector<std::pair<const Entry*, std::string_view>> sorted;
  for (const auto& [name, entry] : entries_)
    sorted.emplace_back(&entry, name);
  std::ranges::sort(sorted, {}, [](const auto& item) { return std::pair(item.first->begin, item.first->end); });
  std::uint64_t end = 0;
  std::string_view previous = "the header";
  for (const auto& [entry, name] : sorted) {
    if (entry->begin != end) {
      return Status(StatusCode::kInvalidModel,
                    fmt::format("{}: its data {} that of '{}'", place_of(name_, name),
                                entry->begin < end ? "overlaps" : "leaves a hole after", printable(previous)));
    }
    end = entry->end;
    previous = name;
  }
  if (end != bytes().size() - data_start_) {
    return Status(StatusCode::kInvalidModel, fmt::format("{}: {} bytes at the end belong to no tensor", name_,
                                                         bytes().size() - data_start_ - end));
  }
  return {};
}

std::vector<std::string> Safetensors::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_)
    names.push_back(name);
  return names;
}

bool Safetensors::contains(std::string_view name) const {
  return entries_.find(name) != entries_.end();
}

std::optional<std::vector<std::int64_t>> Safetensors::shape_of(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? std::nullopt : std::optional(found->second.shape);
}

std::optional<Safetensors::Stored> Safetensors::stored(std::string_view name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return std::nullopt;
  const Entry& entry = found->second;
  return Stored{entry.type, bytes().subspan(data_start_ + static_cast<std::size_t>(entry.begin),
                                            static_cast<std::size_t>(entry.end - entry.begin))};
}

Result<StoredTensor> Safetensors::find(std::string_view name, std::span<const std::int64_t> shape) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{}: no tensor '{}', which this kind of model needs", name_, printable(name)));
  }
  const Entry& entry = found->second;
  const Dtype* dtype = find_dtype(entry.type);
  if (dtype == nullptr || !dtype->type) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{} has the type {}{}", place_of(name_, name), printable(entry.type),
                              core::supported_instead(entry.type, read_types())));
  }
  if (!std::ranges::equal(entry.shape, shape)) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{} has the shape [{}], config.json asks for [{}]", place_of(name_, name),
                              fmt::join(entry.shape, ","), fmt::join(shape, ",")));
  }
  const auto begin = data_start_ + static_cast<std::size_t>(entry.begin);
  return StoredTensor{.name = std::string(name),
                      .type = *dtype->type,
                      .shape = entry.shape,
                      .offset = begin,
                      .bytes = bytes().subspan(begin, static_cast<std::size_t>(entry.end - entry.begin))};
}

}  // namespace latebind::embedding
