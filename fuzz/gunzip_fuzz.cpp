// Fuzz target: packed text files, which a user downloaded. The unpacked bytes must not depend on the sizes of the
// reads.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "cli/data/gunzip.h"

namespace {

// A few packed bytes can stand for gigabytes, which would take the target's time.
constexpr std::size_t kUnpackedMax = std::size_t{1} << 18;

struct Unpacked {
  std::string bytes{};
  std::string error{};
};

Unpacked unpack(const std::uint8_t* data, std::size_t size, std::size_t packed_step, std::size_t unpacked_step) {
  std::size_t at = 0;
  latebind::cli::Gunzip gunzip([&](char* to, std::size_t room) -> latebind::core::Result<std::size_t> {
    const std::size_t count = std::min({room, packed_step, size - at});
    if (count > 0) std::memcpy(to, data + at, count);
    at += count;
    return count;
  });
  Unpacked result;
  std::vector<char> buffer(unpacked_step);
  while (result.bytes.size() < kUnpackedMax) {
    const auto count = gunzip.read(buffer.data(), buffer.size());
    if (!count.ok()) {
      result.error = count.status().to_string();
      break;
    }
    if (*count == 0) break;
    if (*count > buffer.size()) __builtin_trap();
    result.bytes.append(buffer.data(), *count);
  }
  if (result.bytes.size() >= kUnpackedMax) {
    result.bytes.resize(kUnpackedMax);
    result.error.clear();
  }
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Unpacked whole = unpack(data, size, size + 1, 4096);
  const Unpacked pieces = unpack(data, size, 1, 7);
  // An error may take back what the last read before it would have given.
  const std::size_t common = std::min(whole.bytes.size(), pieces.bytes.size());
  if (whole.bytes.compare(0, common, pieces.bytes, 0, common) != 0) __builtin_trap();
  if (whole.error.empty() && pieces.error.empty() && whole.bytes.size() != pieces.bytes.size()) __builtin_trap();
  if (whole.error.empty() != pieces.error.empty() && common < kUnpackedMax) __builtin_trap();
  return 0;
}
