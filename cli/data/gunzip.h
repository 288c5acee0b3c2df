// Gunzip unpacks a file in the format of gzip (RFC 1952 and RFC 1951), of one or several members, in bounded memory.
//
// Checks the size and the CRC of every member. For one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace latebind::cli {

class Gunzip {
 public:
  // Reads packed bytes; returns how many, 0 at the end.
  using Source = std::function<core::Result<std::size_t>(char* to, std::size_t size)>;
  explicit Gunzip(Source source);

  // Reads unpacked bytes; returns how many, 0 at the end. Returns kInvalidArgument if the file is not a gzip file, is
  // damaged or is cut short, and the errors of the source. No reads may follow an error.
  [[nodiscard]] core::Result<std::size_t> read(char* to, std::size_t size);

 private:
  // A code of variable length. The symbol and the length of the code that `bits` begin with are at table[bits].
  struct Code {
    std::vector<std::uint32_t> table{};  // symbol << 4 | length; 0: no code
    unsigned bits = 0;                   // of an index

    [[nodiscard]] bool make(const std::uint8_t* lengths, std::size_t count);
  };
  enum class Phase { kMember, kBlock, kStored, kCodes, kTrailer, kEnd };

  core::Status advance();
  core::Status begin_member();
  core::Status begin_block();
  core::Status read_codes();
  core::Status copy_stored();
  core::Status decode();
  core::Status copy_back(std::uint32_t symbol);
  core::Status end_member();
  core::Status fill(unsigned count);
  core::Result<std::uint32_t> take(unsigned count);
  core::Result<std::uint32_t> take_symbol(const Code& code);
  core::Status skip_text();
  void drop(unsigned count);
  void align();

  Source source_;
  std::vector<char> input_;
  std::size_t next_ = 0;  // in input_
  std::size_t end_ = 0;
  bool at_end_ = false;  // of the source
  std::uint64_t buffer_ = 0;
  unsigned held_ = 0;  // bits in buffer_

  Phase phase_ = Phase::kMember;
  bool is_first_ = true;
  bool is_last_block_ = false;
  std::size_t stored_left_ = 0;
  Code literals_;
  Code distances_;
  std::string output_;      // the last 32 KiB that were given, which codes refer to, and what follows
  std::size_t given_ = 0;   // of output_
  std::size_t member_ = 0;  // where the member's output begins in output_, or 0 if that is gone
  std::uint32_t crc_ = 0;
  std::uint32_t size_ = 0;  // modulo 2^32
};

}  // namespace latebind::cli
