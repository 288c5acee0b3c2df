#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "core/bundle/refusals.h"
#include "core/bundle/vcdiff.h"
#include "core/bundle/vcdiff_format.h"

namespace latebind::core {
namespace {

using Bytes = std::span<const std::byte>;

// Reads from a section of the difference. Reading beyond its end gives 0 and is remembered.
class Section {
 public:
  explicit Section(Bytes bytes) : rest_(bytes) {}

  std::uint8_t byte() {
    if (rest_.empty()) {
      damaged_ = true;
      return 0;
    }
    const auto value = std::to_integer<std::uint8_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return value;
  }
  // A number has seven bits per byte, the highest first; all bytes but the last have the high bit set.
  std::uint64_t number() {
    std::uint64_t value = 0;
    while (!damaged_) {
      const std::uint8_t next = byte();
      if (value > std::numeric_limits<std::uint64_t>::max() >> 7U) damaged_ = true;
      value = value << 7U | (next & 0x7FU);
      if ((next & 0x80U) == 0) break;
    }
    return damaged_ ? 0 : value;
  }
  Bytes bytes(std::uint64_t count) {
    if (count > rest_.size()) {
      damaged_ = true;
      return {};
    }
    const Bytes taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  [[nodiscard]] bool is_empty() const { return rest_.empty(); }
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  Bytes rest_;
  bool damaged_ = false;
};

// The addresses of earlier copies in one window (section 5.1).
class AddressCache {
 public:
  // Returns the address of a copy; `here` is the address of the byte that it makes next.
  std::uint64_t read(std::uint8_t mode, std::uint64_t here, Section& addresses) {
    std::uint64_t address = 0;
    if (mode == vcdiff::kSelf) {
      address = addresses.number();
    } else if (mode == vcdiff::kHere) {
      address = here - addresses.number();
    } else if (mode < vcdiff::kFirstSame) {
      address = near_[mode - vcdiff::kFirstNear] + addresses.number();
    } else {
      address = same_[(mode - vcdiff::kFirstSame) * std::size_t{256} + addresses.byte()];
    }
    near_[next_] = address;
    next_ = (next_ + 1) % near_.size();
    same_[address % same_.size()] = address;
    return address;
  }

 private:
  std::array<std::uint64_t, vcdiff::kNearCount> near_{};
  std::array<std::uint64_t, vcdiff::kSameCount * 256> same_{};
  std::size_t next_ = 0;
};

struct Window {
  Bytes source;  // the segment from which copies may come
  std::span<std::byte> target;
  Section data;
  Section instructions;
  Section addresses;
};

// Copies within the window's source followed by what the window has made so far. A copy may begin in the first and end
// in the second, and may read bytes that it has written.
void copy(const Window& window, std::uint64_t address, std::size_t at, std::size_t size) {
  if (address < window.source.size()) {
    const std::size_t part = std::min<std::size_t>(size, window.source.size() - address);
    std::memcpy(window.target.data() + at, window.source.data() + address, part);
    address += part;
    at += part;
    size -= part;
  }
  const std::size_t from = address - window.source.size();
  for (std::size_t i = 0; i < size; ++i)
    window.target[at + i] = window.target[from + i];
}

// Makes the whole window. Returns null, or what is wrong with it.
const char* apply(Window& window) {
  static constexpr auto kCodes = vcdiff::code_table();
  AddressCache cache;
  std::size_t at = 0;
  while (!window.instructions.is_empty()) {
    const vcdiff::CodePair& pair = kCodes[window.instructions.byte()];
    for (const vcdiff::Instruction* one : {&pair.first, &pair.second}) {
      if (one->kind == vcdiff::Kind::kNoop) continue;
      const std::uint64_t size = one->size != 0 ? one->size : window.instructions.number();
      if (size > window.target.size() - at) return "an instruction makes more than its window holds";
      if (one->kind == vcdiff::Kind::kAdd) {
        const Bytes added = window.data.bytes(size);
        std::ranges::copy(added, window.target.begin() + static_cast<std::ptrdiff_t>(at));
      } else if (one->kind == vcdiff::Kind::kRun) {
        const auto value = static_cast<std::byte>(window.data.byte());
        std::ranges::fill(window.target.subspan(at, size), value);
      } else {
        const std::uint64_t here = window.source.size() + at;
        const std::uint64_t address = cache.read(one->mode, here, window.addresses);
        if (address >= here) return "a copy begins after the available data";
        copy(window, address, at, size);
      }
      if (window.data.damaged() || window.instructions.damaged() || window.addresses.damaged()) {
        return "a section ends too early";
      }
      at += size;
    }
  }
  if (at != window.target.size()) return "a window is not filled";
  if (!window.data.is_empty() || !window.addresses.is_empty()) return "a section has unused data";
  return nullptr;
}

// `made` is the number of bytes of the target that exist. Returns the number of bytes that the window makes.
Result<std::size_t> apply_window(Section& file, Bytes source, std::span<std::byte> target, std::size_t made,
                                 std::string_view where) {
  const auto refuse = [&](std::string_view what) {
    return invalid_bundle(where, fmt::format("the difference cannot be applied: {}", what));
  };
  const std::uint8_t indicator = file.byte();
  if ((indicator & ~(vcdiff::kFromSource | vcdiff::kFromTarget)) != 0 ||
      indicator == (vcdiff::kFromSource | vcdiff::kFromTarget)) {
    return refuse(fmt::format("the window indicator {} is unknown", indicator));
  }
  Bytes segment;
  if (indicator != 0) {
    const std::uint64_t size = file.number();
    const std::uint64_t begin = file.number();
    const Bytes whole = indicator == vcdiff::kFromSource ? source : Bytes(target.first(made));
    if (begin > whole.size() || size > whole.size() - begin) return refuse("a window's source is outside the file");
    segment = whole.subspan(begin, size);
  }
  Section body(file.bytes(file.number()));
  const std::uint64_t size = body.number();
  if (size > target.size() - made) return refuse("its output is larger than expected");
  if (body.byte() != 0) return refuse("it is compressed");
  const std::uint64_t data_size = body.number();
  const std::uint64_t instructions_size = body.number();
  const std::uint64_t addresses_size = body.number();
  const Bytes data = body.bytes(data_size);
  const Bytes instructions = body.bytes(instructions_size);
  const Bytes addresses = body.bytes(addresses_size);
  if (file.damaged() || body.damaged() || !body.is_empty()) return refuse("a window is cut off");
  Window window{segment, target.subspan(made, size), Section(data), Section(instructions), Section(addresses)};
  if (const char* what = apply(window)) return refuse(what);
  return static_cast<std::size_t>(size);
}

}  // namespace

Status apply_vcdiff(Bytes source, Bytes difference, std::span<std::byte> target, std::string_view where) {
  Section file(difference);
  const Bytes magic = file.bytes(vcdiff::kMagic.size());
  if (magic.empty() || std::memcmp(magic.data(), vcdiff::kMagic.data(), magic.size()) != 0) {
    return invalid_bundle(where, "this is not a difference in the format of RFC 3284");
  }
  if (file.byte() != 0 || file.damaged()) {
    return invalid_bundle(
        where, "a difference with a compressor, a custom code table or an application header is not supported");
  }
  std::size_t made = 0;
  while (!file.is_empty()) {
    LB_ASSIGN_OR_RETURN(const std::size_t size, apply_window(file, source, target, made, where));
    made += size;
  }
  if (made == target.size()) return {};
  return invalid_bundle(where, fmt::format("the difference makes {} bytes; expected {}", made, target.size()));
}

}  // namespace latebind::core
