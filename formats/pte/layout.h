// The outermost structure of a .pte: flatbuffer, extended header, segments. Numbers are little-endian. Used only within
// this folder; pure functions, any thread.
//
//   0   u32  offset of the flatbuffer's root table
//   4        "ET12", the flatbuffer's identifier
//   8        "eh00", u32 length of the header from here on (24, or 32 with the last field)
//   16  u64  size of the flatbuffer, header included
//   24  u64  offset of the first segment; 0: there are none
//   32  u64  size of all segments
//   40       the rest of the flatbuffer
//
// Source: executorch/exir/_serialize/_program.py of the SDK. A program without segments may lack the extended header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

namespace latebind::pte {

inline constexpr std::string_view kIdentifier = "ET12";
inline constexpr std::string_view kHeaderMagic = "eh00";
inline constexpr std::size_t kIdentifierAt = 4;
inline constexpr std::size_t kHeaderAt = 8;
inline constexpr std::size_t kHeaderShort = 24;
inline constexpr std::size_t kHeaderBytes = 32;
inline constexpr std::size_t kProgramSizeAt = 16;
inline constexpr std::size_t kSegmentBaseAt = 24;
inline constexpr std::size_t kSegmentSizeAt = 32;
// If the encoding of inputs or outputs begins with this line, their names follow, one a line. Exporters store other
// data there.
inline constexpr std::string_view kNamesMark = "names\n";
// Flatbuffers' limit.
inline constexpr std::uint64_t kFlatbufferMax = (std::uint64_t{1} << 31U) - 1;

struct Layout {
  std::uint64_t program_size = 0;
  std::uint64_t segment_base = 0;  // 0: no segments
  std::uint64_t segment_size = 0;
  bool has_header = false;
  bool has_segment_size = false;  // the header has it; otherwise the segments end with the file
};

// Returns kInvalidModel with what is wrong and where. On success, all offsets are within the file.
[[nodiscard]] core::Result<Layout> read_layout(std::span<const std::byte> file);

// The extended header, kHeaderBytes long.
[[nodiscard]] std::string header_bytes(const Layout& layout);

[[nodiscard]] std::uint64_t read_number(std::span<const std::byte> bytes, std::size_t at, std::size_t count);
[[nodiscard]] std::string number_bytes(std::uint64_t value, std::size_t count);

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace latebind::pte
