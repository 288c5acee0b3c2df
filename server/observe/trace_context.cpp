#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>

#include "core/platform/random.h"
#include "server/observe/traces.h"

namespace latebind::server {
namespace {

constexpr std::size_t kTraceparentSize = 55;  // 00-32 digits-16 digits-01

std::optional<std::uint8_t> digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  // The specification only allows lower case.
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  return std::nullopt;
}

// `text` has two characters per byte.
bool read_hex(std::string_view text, std::span<std::uint8_t> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto high = digit_of(text[2 * i]);
    const auto low = digit_of(text[2 * i + 1]);
    if (!high || !low) return false;
    bytes[i] = static_cast<std::uint8_t>(*high << 4U | *low);
  }
  return true;
}

bool is_zero(std::span<const std::uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

std::mt19937_64& generator() {
  thread_local std::mt19937_64 of_thread = [] {
    const std::array random{platform::random_number(), platform::random_number(), platform::random_number(),
                            platform::random_number()};
    std::seed_seq seed(random.begin(), random.end());
    return std::mt19937_64(seed);
  }();
  return of_thread;
}

std::optional<TraceContext> parsed(std::string_view text) {
  if (text.size() < kTraceparentSize || text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
  std::uint8_t version = 0;
  std::uint8_t flags = 0;
  TraceContext context;
  if (!read_hex(text.substr(0, 2), {&version, 1}) || !read_hex(text.substr(3, 32), context.trace_id) ||
      !read_hex(text.substr(36, 16), context.parent_id) || !read_hex(text.substr(53, 2), {&flags, 1})) {
    return std::nullopt;
  }
  if (version == 0xFF || is_zero(context.trace_id) || is_zero(context.parent_id)) return std::nullopt;
  // Later versions may append parts that begin with a dash.
  if (text.size() > kTraceparentSize && (version == 0 || text[kTraceparentSize] != '-')) return std::nullopt;
  context.sampled = (flags & 1U) != 0;
  return context;
}

}  // namespace

void fill_with_random_id(std::span<std::uint8_t> id) {
  do {
    for (std::size_t i = 0; i < id.size(); i += 8) {
      std::uint64_t bits = generator()();
      for (std::size_t j = i; j < std::min(id.size(), i + 8); ++j, bits >>= 8U)
        id[j] = static_cast<std::uint8_t>(bits);
    }
  } while (is_zero(id));
}

std::string hex_of(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xFU];
  }
  return text;
}

std::string hex_of(const TraceContext& context) {
  return hex_of(std::span<const std::uint8_t>(context.trace_id));
}

TraceContext trace_context_of(std::string_view traceparent) {
  TraceContext context;
  if (const auto given = parsed(traceparent)) {
    context = *given;
  } else {
    fill_with_random_id(context.trace_id);
    context.sampled = true;
  }
  fill_with_random_id(context.span_id);
  return context;
}

std::string traceparent_of(const TraceContext& context) {
  return "00-" + hex_of(context) + "-" + hex_of(context.span_id) + (context.sampled ? "-01" : "-00");
}

}  // namespace latebind::server
