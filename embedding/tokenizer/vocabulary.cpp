#include "embedding/tokenizer/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "core/text/quote.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;

constexpr std::size_t kProbesMax = 128;
// The number of tokens whose memory is prefetched before the first of them is examined.
constexpr std::size_t kAtOnce = 32;

Status occurs_twice(std::string_view token) {
  return {StatusCode::kInvalidModel, fmt::format("the token {} occurs twice", core::quoted(token))};
}

}  // namespace

void Vocabulary::reserve(std::size_t json_bytes) {
  places_.reserve(json_bytes / 14);
  bytes_.reserve(json_bytes / 2);
}

Status Vocabulary::add(std::string_view token, std::uint64_t id) {
  if (token.size() > kTokenBytesMax) {
    return {StatusCode::kUnsupported, fmt::format("the token of id {} is {} bytes long, more than the {} supported", id,
                                                  token.size(), kTokenBytesMax)};
  }
  if (id >= kIdEnd) {
    return {StatusCode::kInvalidModel,
            fmt::format("the id {} of token {} is not below {}", id, core::quoted(token), kIdEnd)};
  }
  if (places_.size() >= kTokensMax) {
    return {StatusCode::kUnsupported, fmt::format("more than {} tokens", kTokensMax)};
  }
  if (bytes_.size() + kHeadBytes + token.size() > std::numeric_limits<Place>::max()) {
    return {StatusCode::kUnsupported,
            fmt::format("the tokens have more than {} bytes in total", std::numeric_limits<Place>::max())};
  }
  const auto number = static_cast<std::int32_t>(id);
  const auto size = static_cast<Size>(token.size());
  char* const at = bytes_.append(kHeadBytes + size);
  std::memcpy(at, &number, sizeof(number));
  std::memcpy(at + sizeof(number), &size, sizeof(size));
  if (size > 0) std::memcpy(at + kHeadBytes, token.data(), size);
  places_.push_back(static_cast<Place>(bytes_.size() - size));
  id_end_ = std::max(id_end_, static_cast<std::size_t>(id) + 1);
  return {};
}

Status Vocabulary::sort_by_id() {
  // Most files are sorted already.
  const auto by_id = [this](Place a, Place b) { return id_at(a) < id_at(b); };
  if (!std::is_sorted(places_.begin(), places_.end(), by_id)) {
    std::stable_sort(places_.begin(), places_.end(), by_id);
  }
  const auto twin =
      std::adjacent_find(places_.begin(), places_.end(), [this](Place a, Place b) { return id_at(a) == id_at(b); });
  if (twin == places_.end()) return {};
  const std::string_view one = entry(twin[0]).text;
  const std::string_view other = entry(twin[1]).text;
  if (one == other) return occurs_twice(one);
  return {StatusCode::kInvalidModel,
          fmt::format("tokens {} and {} have the same id {}", core::quoted(one), core::quoted(other), id_at(*twin))};
}

Status Vocabulary::finish_trie() {
  LB_RETURN_IF_ERROR(sort_by_id());
  return trie_.emplace().build(*this);
}

Status Vocabulary::finish() {
  LB_RETURN_IF_ERROR(sort_by_id());
  return fill();
}

Status Vocabulary::finish_steps() {
  has_steps_ = true;
  return finish();
}

Status Vocabulary::fill() {
  // At most half full. Another seed distributes differently what collides with this one.
  const std::size_t capacity = std::bit_ceil(std::max<std::size_t>(places_.size() * 2, 2));
  shift_ = 64U - static_cast<unsigned>(std::bit_width(capacity) - 1);
  slots_ = ZeroedSlots<Slot>(capacity);
  for (seed_ = 0x6C617465U; seed_ < 0x6C617465U + 4; ++seed_) {
    std::string_view twice;
    if (fill_table(twice)) return {};
    if (twice.data() != nullptr) return occurs_twice(twice);
    std::fill(slots_.begin(), slots_.end(), Slot{});
  }
  return {StatusCode::kUnsupported, "the tokens have too many hash collisions"};
}

bool Vocabulary::fill_table(std::string_view& twice) {
  std::array<std::uint64_t, kAtOnce> states{};
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (i % kAtOnce == 0) {
      for (std::size_t k = 0; k < std::min(kAtOnce, places_.size() - i); ++k) {
        states[k] = state_of(entry(places_[i + k]).text);
        __builtin_prefetch(&slots_[slot_of(states[k])], 1);
      }
    }
    const std::string_view token = entry(places_[i]).text;
    const std::uint64_t state = states[i % kAtOnce];
    const std::uint32_t tag = tag_of(state);
    std::size_t slot = slot_of(state);
    std::size_t probes = 0;
    while (slots_[slot].place != 0) {
      if (slots_[slot].tag == tag && same_text(entry(slots_[slot].place).text, token)) {
        twice = token;
        return false;
      }
      if (++probes > kProbesMax) return false;
      slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = {tag, places_[i]};
  }
  return true;
}

void Vocabulary::find_all(std::span<const std::string_view> tokens, std::span<std::int32_t> ids) const {
  std::array<std::uint64_t, kAtOnce> states{};
  while (!tokens.empty()) {
    const std::size_t count = std::min(kAtOnce, tokens.size());
    for (std::size_t i = 0; i < count; ++i) {
      states[i] = state_of(tokens[i]);
      __builtin_prefetch(&slots_[slot_of(states[i])]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t slot = slot_of(states[i]);
      while (slots_[slot].place != 0 && slots_[slot].tag != tag_of(states[i]))
        slot = (slot + 1) & (slots_.size() - 1);
      __builtin_prefetch(bytes_.data() + slots_[slot].place);
    }
    for (std::size_t i = 0; i < count; ++i)
      ids[i] = find(states[i], {}, tokens[i]);
    tokens = tokens.subspan(count);
    ids = ids.subspan(count);
  }
}

std::optional<std::int32_t> Vocabulary::find(std::string_view token) const {
  if (trie_) {
    std::optional<std::int32_t> found;
    for_each_prefix(token, [&](std::int32_t id, std::size_t size) {
      if (size == token.size()) found = id;
    });
    return found;
  }
  const std::int32_t id = find(state_of(token), {}, token);
  return id < 0 ? std::nullopt : std::optional(id);
}

std::optional<std::string_view> Vocabulary::token(std::int32_t id) const {
  const auto likely = static_cast<std::size_t>(id);
  if (id >= 0 && likely < places_.size()) {
    const Entry found = entry(places_[likely]);
    if (found.id == id) return found.text;
  }
  const auto place = std::lower_bound(places_.begin(), places_.end(), id,
                                      [this](Place at, std::int32_t wanted) { return id_at(at) < wanted; });
  if (place == places_.end() || id_at(*place) != id) return std::nullopt;
  return entry(*place).text;
}

std::size_t Vocabulary::longest() const {
  return longest_after({});
}

std::size_t Vocabulary::longest_after(std::string_view prefix) const {
  std::size_t longest = 0;
  for (const Place place : places_) {
    const std::string_view text = entry(place).text;
    if (text.starts_with(prefix)) longest = std::max(longest, text.size() - prefix.size());
  }
  return longest;
}

}  // namespace latebind::embedding
