// The byte format of an entry of the compile cache: a head that describes the payload, and the payload, aligned to
// pages so that it can be used directly from a mapping.
//
//   8 bytes   magic "LBCACHE" and the format's number
//   4 bytes   length of the header, little-endian
//   4 bytes   zero
//   16 bytes  XXH3-128 of the header
//   …         the header: JSON with the whole key, facts for people, size and sum of the payload
//   …         zeros up to the next multiple of 4096
//   …         the payload, to the end of the file
//
// Every bit of an entry is covered by a checksum or has only one allowed value. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/result.h"

namespace latebind::core {

// The payload's offset in the file is a multiple of this.
inline constexpr std::size_t kEntryAlignment = 4096;
// The largest size of a header, in bytes.
inline constexpr std::size_t kEntryHeaderMax = std::size_t{64} << 10;

// Returns the checksum of a payload as 32 hexadecimal digits: the XXH3-128 of the XXH3-128s of its 4 MiB blocks, so
// that several threads can compute it.
[[nodiscard]] std::string payload_sum(std::span<const std::byte> payload);

struct EntryHeader {
  std::string key;  // see compile_key.h
  // For people; the key contains all of it as well.
  std::string model;
  std::string device;  // "openvino:CPU"
  std::string runtime_version;
  std::string precision;
  std::string payload_sum;
  std::uint64_t payload_size = 0;
};

// Returns everything before the payload. kInvalidArgument when the header would be longer than kEntryHeaderMax.
[[nodiscard]] Result<std::string> entry_head(const EntryHeader& header);

struct ParsedEntry {
  EntryHeader header;
  std::span<const std::byte> payload;  // a part of the bytes that were parsed
};

// The number of leading bytes that looks_like_entry() needs, if the file has that many.
inline constexpr std::size_t kEntryMarkBytes = 8;
// Whether a file that begins with `head` can have been an entry: it begins with the magic, or it is empty or all zeros,
// as a crash of the machine may leave it.
[[nodiscard]] bool looks_like_entry(std::span<const std::byte> head);

// Checks everything except the payload's checksum. kIo says what is damaged.
[[nodiscard]] Result<ParsedEntry> parse_entry(std::span<const std::byte> bytes);

// Compares the payload with its checksum. Returns kIo when they differ.
[[nodiscard]] Status check_payload(const ParsedEntry& entry);

}  // namespace latebind::core
