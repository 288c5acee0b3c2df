// An entry of the compile cache as bytes: a head that says what the payload is, and the payload, page-aligned so that
// it is used directly from a mapping.
//
//   8 bytes   magic "LBCACHE" and the format's number
//   4 bytes   length of the header, little-endian
//   4 bytes   zero
//   16 bytes  XXH3-128 of the header
//   …         the header: JSON with the whole key, facts for people, size and sum of the payload
//   …         zeros up to the next multiple of 4096
//   …         the payload, to the end of the file
//
// Every bit of an entry is covered by a sum or has only one allowed value. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/result.h"

namespace latebind::core {

// The payload's offset is a multiple of this.
inline constexpr std::size_t kEntryAlignment = 4096;
// No header is longer.
inline constexpr std::size_t kEntryHeaderMax = std::size_t{64} << 10;

// XXH3-128 of the XXH3-128s of its blocks of 4 MiB, so that several threads can compute it: 32 hexadecimal digits.
[[nodiscard]] std::string payload_sum(std::span<const std::byte> payload);

struct EntryHeader {
  std::string key;  // see compile_key.h
  // For people; all of it is part of the key as well.
  std::string model;
  std::string device;  // "openvino:CPU"
  std::string runtime_version;
  std::string precision;
  std::string payload_sum;
  std::uint64_t payload_size = 0;
};

// Everything before the payload. kInvalidArgument when the header would be longer than kEntryHeaderMax.
[[nodiscard]] Result<std::string> entry_head(const EntryHeader& header);

struct ParsedEntry {
  EntryHeader header;
  std::span<const std::byte> payload;  // a part of the bytes that were parsed
};

// How many bytes looks_like_entry() needs, if the file has as many.
inline constexpr std::size_t kEntryMarkBytes = 8;
// Whether a file that begins so can have been an entry: it has the magic, or it is nothing but zeros, or empty, as a
// crash of the machine may leave one.
[[nodiscard]] bool looks_like_entry(std::span<const std::byte> head);

// Checks everything but the payload's sum. kIo says what is damaged.
[[nodiscard]] Result<ParsedEntry> parse_entry(std::span<const std::byte> bytes);

// Compares the payload with its sum. kIo.
[[nodiscard]] Status check_payload(const ParsedEntry& entry);

}  // namespace latebind::core
