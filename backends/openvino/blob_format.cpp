#include "backends/openvino/blob_format.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace latebind::openvino {
namespace {

using core::Status;
using core::StatusCode;

constexpr std::string_view kLabelled = "RR_UPCVO";
constexpr std::string_view kElf =
    "\x7f"
    "ELF";
// The magic is followed by the label's version (4 bytes) and length (8 bytes).
constexpr std::size_t kLabelAt = kLabelled.size() + 12;
// Offset and size of each of the three parts.
constexpr std::size_t kNumbers = 6;
constexpr std::uint64_t kTableBytes = kNumbers * sizeof(std::uint64_t);

bool begins_with(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint64_t number = 0;
  for (std::size_t i = sizeof number; i-- > 0;)
    number = number << 8U | static_cast<std::uint64_t>(bytes[at + i]);
  return number;
}

// The offset of the table; std::nullopt if the blob is too short for one.
std::optional<std::size_t> table_at(std::span<const std::byte> bytes) {
  std::size_t at = 0;
  if (begins_with(bytes, kLabelled)) {
    if (bytes.size() < kLabelAt) return std::nullopt;
    const std::uint64_t label = number_at(bytes, kLabelAt - sizeof(std::uint64_t));
    if (label > bytes.size() - kLabelAt) return std::nullopt;
    at = kLabelAt + static_cast<std::size_t>(label);
  }
  if (bytes.size() - at < kTableBytes) return std::nullopt;
  return at;
}

}  // namespace

bool looks_like_blob(std::span<const std::byte> bytes) {
  if (begins_with(bytes, kLabelled) || begins_with(bytes, kElf)) return true;
  if (bytes.size() < kTableBytes || number_at(bytes, 0) != kTableBytes) return false;
  const std::uint64_t first = number_at(bytes, 8);
  return first < bytes.size() && number_at(bytes, 16) == kTableBytes + first;
}

Status check_blob(std::span<const std::byte> bytes) {
  if (begins_with(bytes, kElf)) return {};
  const auto cut_off = [&] {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("the OpenVINO blob is damaged: its parts do not add up to its {} bytes", bytes.size()));
  };
  const auto table = table_at(bytes);
  if (!table) return cut_off();
  const std::uint64_t size = bytes.size() - *table;
  std::uint64_t next = kTableBytes;
  for (std::size_t part = 0; part < kNumbers; part += 2) {
    const std::uint64_t offset = number_at(bytes, *table + part * sizeof(std::uint64_t));
    const std::uint64_t length = number_at(bytes, *table + (part + 1) * sizeof(std::uint64_t));
    if (offset != next || length > size - offset) return cut_off();
    next = offset + length;
  }
  return next == size ? Status() : cut_off();
}

}  // namespace latebind::openvino
