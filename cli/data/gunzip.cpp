#include "cli/data/gunzip.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "core/bundle/crc32.h"

namespace latebind::cli {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::size_t kUnpackedBlock = std::size_t{64} << 10;
constexpr std::size_t kWindow = std::size_t{32} << 10;
constexpr unsigned kCodeLengthMax = 15;  // of a code
constexpr std::size_t kLiteralsMax = 286;
constexpr std::size_t kDistancesMax = 30;

// RFC 1951, 3.2.5: the least value and the number of extra bits of each symbol.
constexpr std::array<std::uint16_t, 29> kLengthBase{3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                                    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr std::array<std::uint8_t, 29> kLengthBits{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                   2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr std::array<std::uint16_t, kDistancesMax> kDistanceBase{
    1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
    193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
constexpr std::array<std::uint8_t, kDistancesMax> kDistanceBits{0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                                                6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};

Status damaged(std::string_view what) {
  return Status(StatusCode::kInvalidArgument, std::string(what));
}
Status cut_short() {
  return damaged("the gzip data is cut short");
}
Status broken() {
  return damaged("the gzip data is damaged");
}

std::uint32_t reversed(std::uint32_t code, unsigned length) {
  std::uint32_t result = 0;
  for (unsigned i = 0; i < length; ++i)
    result |= ((code >> i) & 1U) << (length - 1 - i);
  return result;
}

}  // namespace

// RFC 1951, 3.2.2. A set of codes may be incomplete only if it has at most one code.
bool Gunzip::Code::make(const std::uint8_t* lengths, std::size_t count) {
  std::array<std::uint32_t, kCodeLengthMax + 1> of_length{};
  for (std::size_t i = 0; i < count; ++i)
    ++of_length[lengths[i]];
  const std::uint32_t codes = static_cast<std::uint32_t>(count) - of_length[0];
  of_length[0] = 0;
  bits = 1;
  std::uint32_t code = 0;
  std::array<std::uint32_t, kCodeLengthMax + 1> next{};
  std::uint32_t used = 0;  // of 2^15
  for (unsigned length = 1; length <= kCodeLengthMax; ++length) {
    code = (code + of_length[length - 1]) << 1U;
    next[length] = code;
    used += of_length[length] << (kCodeLengthMax - length);
    if (of_length[length] > 0) bits = length;
  }
  constexpr std::uint32_t kAll = 1U << kCodeLengthMax;
  if (used > kAll || (used < kAll && codes > 1)) return false;
  table.assign(std::size_t{1} << bits, 0);
  for (std::size_t symbol = 0; symbol < count; ++symbol) {
    const unsigned length = lengths[symbol];
    if (length == 0) continue;
    const std::uint32_t entry = static_cast<std::uint32_t>(symbol) << 4U | length;
    for (std::size_t at = reversed(next[length]++, length); at < table.size(); at += std::size_t{1} << length)
      table[at] = entry;
  }
  return true;
}

Gunzip::Gunzip(Source source) : source_(std::move(source)), input_(kUnpackedBlock) {}

Result<std::size_t> Gunzip::read(char* to, std::size_t size) {
  while (given_ == output_.size()) {
    if (phase_ == Phase::kEnd) return std::size_t{0};
    if (output_.size() > kWindow) {
      const std::size_t gone = output_.size() - kWindow;
      output_.erase(0, gone);
      member_ -= std::min(member_, gone);
    }
    given_ = output_.size();
    LB_RETURN_IF_ERROR(advance());
    const auto fresh = std::as_bytes(std::span(output_).subspan(given_));
    crc_ = core::crc32(fresh, crc_);
    size_ += static_cast<std::uint32_t>(fresh.size());
  }
  const std::size_t count = std::min(size, output_.size() - given_);
  std::memcpy(to, output_.data() + given_, count);
  given_ += count;
  return count;
}

Status Gunzip::advance() {
  switch (phase_) {
    case Phase::kMember:
      return begin_member();
    case Phase::kBlock:
      return begin_block();
    case Phase::kStored:
      return copy_stored();
    case Phase::kCodes:
      return decode();
    case Phase::kTrailer:
      return end_member();
    case Phase::kEnd:
      break;
  }
  return {};
}

// Reads at least `count` bits into the buffer, or all that are left.
Status Gunzip::fill(unsigned count) {
  while (held_ < count) {
    if (next_ == end_) {
      if (at_end_) return {};
      LB_ASSIGN_OR_RETURN(end_, source_(input_.data(), input_.size()));
      next_ = 0;
      at_end_ = end_ == 0;
      continue;
    }
    buffer_ |= static_cast<std::uint64_t>(static_cast<unsigned char>(input_[next_++])) << held_;
    held_ += 8;
  }
  return {};
}

void Gunzip::drop(unsigned count) {
  buffer_ >>= count;
  held_ -= count;
}

void Gunzip::align() {
  drop(held_ % 8);
}

Result<std::uint32_t> Gunzip::take(unsigned count) {
  LB_RETURN_IF_ERROR(fill(count));
  if (held_ < count) return cut_short();
  const auto value = static_cast<std::uint32_t>(buffer_ & ((std::uint64_t{1} << count) - 1));
  drop(count);
  return value;
}

Result<std::uint32_t> Gunzip::take_symbol(const Code& code) {
  LB_RETURN_IF_ERROR(fill(code.bits));
  const std::uint32_t entry = code.table[buffer_ & (code.table.size() - 1)];
  const unsigned length = entry & 15U;
  if (length == 0) return broken();
  if (length > held_) return cut_short();
  drop(length);
  return entry >> 4U;
}

// Skips a text of the header, which ends with a zero byte.
Status Gunzip::skip_text() {
  for (;;) {
    LB_ASSIGN_OR_RETURN(const std::uint32_t byte, take(8));
    if (byte == 0) return {};
  }
}

Status Gunzip::begin_member() {
  constexpr std::uint32_t kMagic = 0x8b1f;
  constexpr std::uint32_t kDeflate = 8;
  constexpr std::uint32_t kHasCrc = 2;
  constexpr std::uint32_t kHasExtra = 4;
  constexpr std::uint32_t kHasName = 8;
  constexpr std::uint32_t kHasComment = 16;
  LB_RETURN_IF_ERROR(fill(16));
  if (!is_first_) {
    // Tapes and some programs fill a file up with zero bytes.
    while (held_ >= 8 && (buffer_ & 0xffU) == 0) {
      drop(8);
      LB_RETURN_IF_ERROR(fill(16));
    }
    if (held_ == 0) {
      phase_ = Phase::kEnd;
      return {};
    }
  }
  if (held_ < 16 || (buffer_ & 0xffffU) != kMagic) {
    return damaged(is_first_ ? "it is not a gzip file" : "the gzip data is followed by something else");
  }
  drop(16);
  is_first_ = false;
  LB_ASSIGN_OR_RETURN(const std::uint32_t method, take(8));
  LB_ASSIGN_OR_RETURN(const std::uint32_t flags, take(8));
  if (method != kDeflate || flags >= 32) return broken();
  LB_RETURN_IF_ERROR(take(32).status());  // the time
  LB_RETURN_IF_ERROR(take(16).status());  // how it was packed, and where
  if ((flags & kHasExtra) != 0) {
    LB_ASSIGN_OR_RETURN(const std::uint32_t size, take(16));
    for (std::uint32_t i = 0; i < size; ++i)
      LB_RETURN_IF_ERROR(take(8).status());
  }
  if ((flags & kHasName) != 0) LB_RETURN_IF_ERROR(skip_text());
  if ((flags & kHasComment) != 0) LB_RETURN_IF_ERROR(skip_text());
  if ((flags & kHasCrc) != 0) LB_RETURN_IF_ERROR(take(16).status());
  member_ = output_.size();
  crc_ = 0;
  size_ = 0;
  phase_ = Phase::kBlock;
  return {};
}

Status Gunzip::end_member() {
  align();
  LB_ASSIGN_OR_RETURN(const std::uint32_t crc, take(32));
  LB_ASSIGN_OR_RETURN(const std::uint32_t size, take(32));
  if (crc != crc_ || size != size_) return broken();
  phase_ = Phase::kMember;
  return {};
}

Status Gunzip::begin_block() {
  LB_ASSIGN_OR_RETURN(const std::uint32_t is_last, take(1));
  is_last_block_ = is_last != 0;
  LB_ASSIGN_OR_RETURN(const std::uint32_t type, take(2));
  if (type == 0) {
    align();
    LB_ASSIGN_OR_RETURN(const std::uint32_t size, take(16));
    LB_ASSIGN_OR_RETURN(const std::uint32_t complement, take(16));
    if ((size ^ complement) != 0xffffU) return broken();
    stored_left_ = size;
    phase_ = Phase::kStored;
    return {};
  }
  if (type == 3) return broken();
  if (type == 2) {
    LB_RETURN_IF_ERROR(read_codes());
  } else {
    // RFC 1951, 3.2.6.
    std::array<std::uint8_t, 288> lengths{};
    std::fill(lengths.begin(), lengths.begin() + 144, std::uint8_t{8});
    std::fill(lengths.begin() + 144, lengths.begin() + 256, std::uint8_t{9});
    std::fill(lengths.begin() + 256, lengths.begin() + 280, std::uint8_t{7});
    std::fill(lengths.begin() + 280, lengths.end(), std::uint8_t{8});
    std::array<std::uint8_t, 32> of_distances{};
    of_distances.fill(5);
    if (!literals_.make(lengths.data(), lengths.size()) || !distances_.make(of_distances.data(), of_distances.size()))
      return broken();
  }
  phase_ = Phase::kCodes;
  return {};
}

// RFC 1951, 3.2.7.
Status Gunzip::read_codes() {
  constexpr std::array<std::uint8_t, 19> kOrder{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  LB_ASSIGN_OR_RETURN(const std::uint32_t literals_less, take(5));
  LB_ASSIGN_OR_RETURN(const std::uint32_t distances_less, take(5));
  LB_ASSIGN_OR_RETURN(const std::uint32_t lengths_less, take(4));
  const std::size_t literals = literals_less + 257;
  const std::size_t distances = distances_less + 1;
  if (literals > kLiteralsMax || distances > kDistancesMax) return broken();
  std::array<std::uint8_t, kOrder.size()> of_lengths{};
  for (std::size_t i = 0; i < lengths_less + 4; ++i) {
    LB_ASSIGN_OR_RETURN(const std::uint32_t length, take(3));
    of_lengths[kOrder[i]] = static_cast<std::uint8_t>(length);
  }
  Code code;
  if (!code.make(of_lengths.data(), of_lengths.size())) return broken();
  std::array<std::uint8_t, kLiteralsMax + kDistancesMax> lengths{};
  for (std::size_t i = 0; i < literals + distances;) {
    LB_ASSIGN_OR_RETURN(const std::uint32_t symbol, take_symbol(code));
    if (symbol < 16) {
      lengths[i++] = static_cast<std::uint8_t>(symbol);
      continue;
    }
    if (symbol == 16 && i == 0) return broken();
    const std::uint8_t repeated = symbol == 16 ? lengths[i - 1] : std::uint8_t{0};
    LB_ASSIGN_OR_RETURN(const std::uint32_t more, take(symbol == 16 ? 2 : symbol == 17 ? 3 : 7));
    const std::size_t count = more + (symbol == 18 ? 11 : 3);
    if (i + count > literals + distances) return broken();
    std::fill_n(lengths.begin() + static_cast<std::ptrdiff_t>(i), count, repeated);
    i += count;
  }
  constexpr std::size_t kEndOfBlock = 256;
  if (lengths[kEndOfBlock] == 0 || !literals_.make(lengths.data(), literals) ||
      !distances_.make(lengths.data() + literals, distances)) {
    return broken();
  }
  return {};
}

Status Gunzip::copy_stored() {
  const std::size_t count = std::min(stored_left_, kUnpackedBlock);
  for (std::size_t i = 0; i < count; ++i) {
    LB_ASSIGN_OR_RETURN(const std::uint32_t byte, take(8));
    output_.push_back(static_cast<char>(byte));
  }
  stored_left_ -= count;
  if (stored_left_ == 0) phase_ = is_last_block_ ? Phase::kTrailer : Phase::kBlock;
  return {};
}

Status Gunzip::decode() {
  constexpr std::uint32_t kEndOfBlock = 256;
  const std::size_t enough = output_.size() + kUnpackedBlock;
  while (output_.size() < enough) {
    LB_ASSIGN_OR_RETURN(const std::uint32_t symbol, take_symbol(literals_));
    if (symbol < kEndOfBlock) {
      output_.push_back(static_cast<char>(symbol));
    } else if (symbol == kEndOfBlock) {
      phase_ = is_last_block_ ? Phase::kTrailer : Phase::kBlock;
      return {};
    } else {
      LB_RETURN_IF_ERROR(copy_back(symbol - kEndOfBlock - 1));
    }
  }
  return {};
}

// Repeats bytes of the output.
Status Gunzip::copy_back(std::uint32_t symbol) {
  if (symbol >= kLengthBase.size()) return broken();
  LB_ASSIGN_OR_RETURN(const std::uint32_t more, take(kLengthBits[symbol]));
  const std::size_t length = kLengthBase[symbol] + more;
  LB_ASSIGN_OR_RETURN(const std::uint32_t far, take_symbol(distances_));
  if (far >= kDistanceBase.size()) return broken();
  LB_ASSIGN_OR_RETURN(const std::uint32_t farther, take(kDistanceBits[far]));
  const std::size_t distance = kDistanceBase[far] + farther;
  if (distance > output_.size() - member_) return broken();
  for (std::size_t i = 0; i < length; ++i)
    output_.push_back(output_[output_.size() - distance]);
  return {};
}

}  // namespace latebind::cli
