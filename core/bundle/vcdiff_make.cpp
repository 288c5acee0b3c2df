#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "core/bundle/vcdiff.h"
#include "core/bundle/vcdiff_format.h"

namespace latebind::core {
namespace {

using Bytes = std::span<const std::byte>;

// Common parts shorter than this are not searched for.
constexpr std::size_t kBlock = 64;
// Other decoders hold a window in memory, and some accept none above 16 MiB.
constexpr std::size_t kWindow = std::size_t{8} << 20;
constexpr std::size_t kFileMax = std::numeric_limits<std::uint32_t>::max();

// A rolling hash over kBlock bytes, which moves by one byte at a time.
class RollingSum {
 public:
  // 0 for input that is shorter than a block.
  explicit RollingSum(Bytes block) {
    if (block.size() < kBlock) return;
    for (const std::byte byte : block.first(kBlock))
      value_ = value_ * kFactor + number(byte);
  }
  void move(std::byte leaving, std::byte entering) {
    value_ = (value_ - number(leaving) * kLeaving) * kFactor + number(entering);
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  static constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15U;
  static constexpr std::uint64_t kLeaving = [] {
    std::uint64_t power = 1;
    for (std::size_t i = 1; i < kBlock; ++i)
      power *= kFactor;
    return power;
  }();
  static std::uint64_t number(std::byte byte) { return std::to_integer<std::uint64_t>(byte) + 1; }

  std::uint64_t value_ = 0;
};

// The positions of the source's blocks by their hash. If several blocks share a slot, it has the first.
class Index {
 public:
  explicit Index(Bytes source) : source_(source) {
    const std::size_t blocks = source.size() / kBlock;
    bits_ = static_cast<int>(std::bit_width(std::max<std::size_t>(blocks * 2, 2) - 1));
    places_.resize(std::size_t{1} << bits_, kNone);
    for (std::size_t i = 0; i < blocks; ++i) {
      std::uint32_t& place = places_[slot(RollingSum(source.subspan(i * kBlock)))];
      if (place == kNone) place = static_cast<std::uint32_t>(i);
    }
  }

  // Returns the position of a block of the source with these bytes.
  [[nodiscard]] std::optional<std::size_t> find(const RollingSum& sum, const std::byte* block) const {
    const std::uint32_t place = places_[slot(sum)];
    if (place == kNone) return std::nullopt;
    const std::size_t at = std::size_t{place} * kBlock;
    if (std::memcmp(source_.data() + at, block, kBlock) != 0) return std::nullopt;
    return at;
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] std::size_t slot(const RollingSum& sum) const {
    return (sum.value() * 0xD6E8FEB86659FD93U) >> (64U - static_cast<unsigned>(bits_));
  }

  Bytes source_;
  int bits_ = 0;
  std::vector<std::uint32_t> places_;
};

void put_number(std::string& out, std::uint64_t value) {
  std::array<char, 10> bytes{};
  std::size_t at = bytes.size();
  bytes[--at] = static_cast<char>(value & 0x7FU);
  while ((value >>= 7U) != 0)
    bytes[--at] = static_cast<char>(0x80U | (value & 0x7FU));
  out.append(bytes.data() + at, bytes.size() - at);
}

struct Copied {
  std::size_t added = 0;  // bytes before it that no copy has
  std::size_t from = 0;
  std::size_t size = 0;  // 0 at the end of a window: there are only the bytes before it
};

// Finds the parts of a window that are in the source. The idea: a rolling hash finds a block of the source, and the
// match is then extended in both directions.
std::vector<Copied> find_copies(Bytes source, const Index& index, Bytes window) {
  std::vector<Copied> copies;
  std::size_t at = 0;
  std::size_t done = 0;
  std::size_t shift = 0;  // from a position in the window to the one in the source, modulo 2^n
  RollingSum sum(window);
  while (window.size() - at >= kBlock) {
    // The source often continues where the last copy ended.
    std::optional<std::size_t> found;
    const std::size_t next = at + shift;
    if (next < source.size() && source.size() - next >= kBlock &&
        std::memcmp(source.data() + next, window.data() + at, kBlock) == 0) {
      found = next;
    }
    if (!found) found = index.find(sum, window.data() + at);
    if (!found) {
      if (at + kBlock < window.size()) sum.move(window[at], window[at + kBlock]);
      ++at;
      continue;
    }
    std::size_t from = *found;
    std::size_t begin = at;
    while (begin > done && from > 0 && window[begin - 1] == source[from - 1]) {
      --begin;
      --from;
    }
    const auto [end, ignored] = std::ranges::mismatch(window.subspan(begin), source.subspan(from));
    const auto size = static_cast<std::size_t>(end - window.subspan(begin).begin());
    copies.push_back({begin - done, from, size});
    shift = from - begin;
    at = done = begin + size;
    sum = RollingSum(window.subspan(at));
  }
  copies.push_back({window.size() - done, 0, 0});
  return copies;
}

std::string window_text(Bytes window, const std::vector<Copied>& copies) {
  std::size_t begin = std::numeric_limits<std::size_t>::max();
  std::size_t end = 0;
  for (const Copied& one : copies) {
    if (one.size == 0) continue;
    begin = std::min(begin, one.from);
    end = std::max(end, one.from + one.size);
  }
  std::string data;
  std::string instructions;
  std::string addresses;
  std::size_t at = 0;
  for (const Copied& one : copies) {
    if (one.added > 0) {
      instructions += static_cast<char>(vcdiff::kAddCode);
      put_number(instructions, one.added);
      data.append(reinterpret_cast<const char*>(window.data() + at), one.added);
    }
    if (one.size > 0) {
      instructions += static_cast<char>(vcdiff::kCopyCode);
      put_number(instructions, one.size);
      put_number(addresses, one.from - begin);
    }
    at += one.added + one.size;
  }
  std::string body;
  put_number(body, window.size());
  body += '\0';  // nothing is compressed
  put_number(body, data.size());
  put_number(body, instructions.size());
  put_number(body, addresses.size());
  body += data;
  body += instructions;
  body += addresses;
  std::string text;
  text += static_cast<char>(end > 0 ? vcdiff::kFromSource : 0);
  if (end > 0) {
    put_number(text, end - begin);
    put_number(text, begin);
  }
  put_number(text, body.size());
  return text + body;
}

}  // namespace

std::optional<std::string> vcdiff_of(Bytes source, Bytes target, std::size_t bytes_max) {
  if (source.size() > kFileMax || target.size() > kFileMax) return std::nullopt;
  const Index index(source);
  std::string out(vcdiff::kMagic.begin(), vcdiff::kMagic.end());
  out += '\0';  // no compressor and no code table
  while (!target.empty()) {
    const Bytes window = target.first(std::min(kWindow, target.size()));
    target = target.subspan(window.size());
    out += window_text(window, find_copies(source, index, window));
    if (out.size() > bytes_max) return std::nullopt;
  }
  return out.size() > bytes_max ? std::nullopt : std::optional(std::move(out));
}

}  // namespace latebind::core
