#include "core/cache/compile_entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/json/read.h"
#include "core/json/value.h"
#include "core/platform/system_info.h"
#include "core/threads/thread_pool.h"

namespace latebind::core {
namespace {

constexpr std::string_view kMagic("LBCACHE\x01", kEntryMarkBytes);
constexpr std::size_t kHeadSize = 32;
constexpr std::size_t kBlock = std::size_t{4} << 20;
constexpr unsigned kThreadsMax = 4;

using Sum = std::array<std::byte, sizeof(XXH128_canonical_t)>;

Sum sum_of(std::span<const std::byte> bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  Sum sum;
  std::memcpy(sum.data(), &canonical, sum.size());
  return sum;
}

Status damaged(std::string_view what) {
  return Status(StatusCode::kIo, fmt::format("damaged entry: {}", what));
}

void append_number(std::string& text, std::uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8)
    text += static_cast<char>((value >> shift) & 0xFFU);
}

std::uint32_t number_at(std::span<const std::byte> bytes, std::size_t offset) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i)
    value |= std::to_integer<std::uint32_t>(bytes[offset + i]) << (8 * i);
  return value;
}

std::size_t aligned(std::size_t size) {
  return (size + kEntryAlignment - 1) / kEntryAlignment * kEntryAlignment;
}

std::optional<std::string> text_of(const Json& object, const char* key) {
  const auto* const found = find_member(object, key);
  if (found == nullptr || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

}  // namespace

std::string payload_sum(std::span<const std::byte> payload) {
  std::vector<Sum> sums((payload.size() + kBlock - 1) / kBlock);
  const auto helpers_wanted =
      std::min<std::size_t>({platform::usable_processors(), kThreadsMax, std::max<std::size_t>(sums.size() / 2, 1)}) -
      1;
  ThreadPool(helpers_wanted).share(sums.size(), helpers_wanted, [&](std::size_t i) {
    const std::size_t begin = i * kBlock;
    sums[i] = sum_of(payload.subspan(begin, std::min(kBlock, payload.size() - begin)));
  });
  std::string text;
  for (const std::byte byte : sum_of(std::as_bytes(std::span(sums))))
    text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

Result<std::string> entry_head(const EntryHeader& header) {
  const Json object{{"key", header.key},
                    {"model", header.model},
                    {"device", header.device},
                    {"runtime_version", header.runtime_version},
                    {"precision", header.precision},
                    {"payload_sum", header.payload_sum},
                    {"payload_size", header.payload_size}};
  const std::string text = object.dump();
  if (text.size() > kEntryHeaderMax) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("options and names of {} bytes are above the limit of {} bytes for an entry of the compile cache",
                    text.size(), kEntryHeaderMax));
  }
  std::string head(kMagic);
  append_number(head, static_cast<std::uint32_t>(text.size()));
  append_number(head, 0);
  const Sum sum = sum_of(std::as_bytes(std::span(text)));
  head.append(reinterpret_cast<const char*>(sum.data()), sum.size());
  head += text;
  head.resize(aligned(head.size()), '\0');
  return head;
}

bool looks_like_entry(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), std::min(head.size(), kEntryMarkBytes));
  // Entries of any version count.
  const std::string_view name = kMagic.substr(0, kMagic.size() - 1);
  return text.starts_with(name) || text.find_first_not_of('\0') == std::string_view::npos;
}

Result<ParsedEntry> parse_entry(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeadSize) return damaged("it is shorter than its header");
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) return damaged("it does not begin like an entry");
  const std::size_t length = number_at(bytes, 8);
  if (length > kEntryHeaderMax || length > bytes.size() - kHeadSize || number_at(bytes, 12) != 0) {
    return damaged("its header has an impossible length");
  }
  const auto header = bytes.subspan(kHeadSize, length);
  const Sum sum = sum_of(header);
  if (std::memcmp(sum.data(), bytes.data() + 16, sum.size()) != 0) return damaged("its header was changed");
  const std::size_t start = aligned(kHeadSize + length);
  if (start > bytes.size()) return damaged("it ends before its payload");
  const auto padding = bytes.subspan(kHeadSize + length, start - kHeadSize - length);
  if (std::ranges::any_of(padding, [](std::byte byte) { return byte != std::byte{0}; })) {
    return damaged("it has data between header and payload");
  }

  const std::string_view text(reinterpret_cast<const char*>(header.data()), header.size());
  const Json object = json_or_null(text);
  if (!object.is_object()) return damaged("its header is not a JSON object");
  ParsedEntry entry;
  const auto read = [&](const char* key, std::string& target) {
    auto value = text_of(object, key);
    if (!value) return false;
    target = *std::move(value);
    return true;
  };
  const auto* const size = find_member(object, "payload_size");
  if (!read("key", entry.header.key) || !read("model", entry.header.model) || !read("device", entry.header.device) ||
      !read("runtime_version", entry.header.runtime_version) || !read("precision", entry.header.precision) ||
      !read("payload_sum", entry.header.payload_sum) || size == nullptr || !size->is_number_unsigned()) {
    return damaged("its header lacks a field");
  }
  entry.header.payload_size = size->get<std::uint64_t>();
  entry.payload = bytes.subspan(start);
  if (entry.payload.size() != entry.header.payload_size) {
    return damaged(
        fmt::format("its payload has {} bytes instead of {}", entry.payload.size(), entry.header.payload_size));
  }
  if (entry.payload.empty()) return damaged("it has no payload");
  return entry;
}

Status check_payload(const ParsedEntry& entry) {
  if (payload_sum(entry.payload) != entry.header.payload_sum) return damaged("its payload was changed");
  return {};
}

}  // namespace latebind::core
