#include "formats/pte/layout.h"

#include <fmt/format.h>

#include <cstring>

namespace latebind::pte {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

Status cut_off(const std::string& what) {
  return {StatusCode::kInvalidModel, fmt::format("{}: the file is damaged or was cut off", what)};
}

bool has_text(std::span<const std::byte> file, std::size_t at, std::string_view text) {
  return file.size() >= at + text.size() && std::memcmp(file.data() + at, text.data(), text.size()) == 0;
}

}  // namespace

std::uint64_t read_number(std::span<const std::byte> bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i)
    value |= std::uint64_t{std::to_integer<std::uint8_t>(bytes[at + i])} << (8 * i);
  return value;
}

std::string number_bytes(std::uint64_t value, std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i)
    bytes += static_cast<char>((value >> (8 * i)) & 0xFFU);
  return bytes;
}

std::string header_bytes(const Layout& layout) {
  return std::string(kHeaderMagic) + number_bytes(kHeaderBytes, 4) + number_bytes(layout.program_size, 8) +
         number_bytes(layout.segment_base, 8) + number_bytes(layout.segment_size, 8);
}

bool looks_like_program(std::span<const std::byte> file) {
  return has_text(file, kIdentifierAt, kIdentifier);
}

Result<Layout> read_layout(std::span<const std::byte> file) {
  if (!looks_like_program(file)) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("this is not a program of ExecuTorch: expected '{}' at byte {} of a .pte", kIdentifier,
                              kIdentifierAt));
  }
  Layout layout;
  if (!has_text(file, kHeaderAt, kHeaderMagic)) {
    layout.program_size = file.size();
    if (layout.program_size > kFlatbufferMax) return cut_off("the program has no extended header and 2 GiB or more");
    return layout;
  }
  layout.has_header = true;
  if (file.size() < kHeaderAt + kHeaderShort) return cut_off("the extended header ends after the end of the file");
  const std::uint64_t length = read_number(file, kHeaderAt + kHeaderMagic.size(), 4);
  if (length < kHeaderShort || length > file.size() - kHeaderAt) {
    return cut_off(fmt::format("the extended header has an invalid size of {} bytes", length));
  }
  layout.has_segment_size = length >= kHeaderBytes;
  layout.program_size = read_number(file, kProgramSizeAt, 8);
  layout.segment_base = read_number(file, kSegmentBaseAt, 8);
  if (layout.program_size < kHeaderAt + length || layout.program_size > file.size() ||
      layout.program_size > kFlatbufferMax) {
    return cut_off(fmt::format("the extended header declares a program of {} bytes, but the file has {}",
                               layout.program_size, file.size()));
  }
  if (layout.segment_base == 0) return layout;
  if (layout.segment_base < layout.program_size || layout.segment_base > file.size()) {
    return cut_off(fmt::format("the extended header declares segments at byte {}, but the file has {} bytes",
                               layout.segment_base, file.size()));
  }
  const std::uint64_t rest = file.size() - layout.segment_base;
  layout.segment_size = layout.has_segment_size ? read_number(file, kSegmentSizeAt, 8) : rest;
  if (layout.segment_size > rest) {
    return cut_off(fmt::format("the extended header declares {} bytes of segments, but the file has {} left",
                               layout.segment_size, rest));
  }
  return layout;
}

}  // namespace latebind::pte
