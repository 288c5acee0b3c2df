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
#include "core/text/quote.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::parse_json;
using core::printable;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::size_t kLengthBytes = 8;

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
      return Status(StatusCode::kInvalidModel, fmt::format("{}: {}", place_of_tensor(name_, name), what));
    };
    if (!tensor.is_object()) return refused("no JSON object");
    Entry entry;
    const auto* const type = core::find_member(tensor, "dtype");
    if (type == nullptr || !type->is_string()) return refused("no text 'dtype'");
    entry.type = type->get<std::string>();
    auto shape = read_shape(tensor);
    if (!shape.ok()) return shape.status().with_context(place_of_tensor(name_, name));
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
    if (const auto bits = bits_of_type(entry.type)) {
      const auto expected = bytes_of_shape(entry.shape, *bits);
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
                    fmt::format("{}: its data {} that of '{}'", place_of_tensor(name_, name),
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

}  // namespace latebind::embedding
