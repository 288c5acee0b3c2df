#include "embedding/tokenizer/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "core/text/quote.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;

constexpr std::size_t kProbesMax = 128;
// Tokens whose places in memory are asked for before the first of them is looked at.
constexpr std::size_t kAtOnce = 32;

}  // namespace

void Vocabulary::reserve(std::size_t json_bytes) {
  entries_.reserve(json_bytes / 14);
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
  if (entries_.size() >= kTokensMax) {
    return {StatusCode::kUnsupported, fmt::format("more than {} tokens", kTokensMax)};
  }
  entries_.push_back({static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint32_t>(token.size()),
                      static_cast<std::int32_t>(id)});
  bytes_.append(token);
  id_end_ = std::max(id_end_, static_cast<std::size_t>(id) + 1);
  return {};
}

Status Vocabulary::sort_by_id() {
  // Most files have them in this order.
  const auto by_id = [](const Entry& a, const Entry& b) { return a.id < b.id; };
  if (!std::is_sorted(entries_.begin(), entries_.end(), by_id)) {
    std::stable_sort(entries_.begin(), entries_.end(), by_id);
  }
  const auto twin =
      std::adjacent_find(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.id == b.id; });
  if (twin != entries_.end()) {
    return {StatusCode::kInvalidModel,
            fmt::format("tokens {} and {} have the same id {}", core::quoted(text_of(twin[0])),
                        core::quoted(text_of(twin[1])), twin->id)};
  }
  return {};
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
  // At most half full. Another seed spreads differently what one seed piles up.
  const std::size_t capacity = std::bit_ceil(std::max<std::size_t>(entries_.size() * 2, 2));
  shift_ = 64U - static_cast<unsigned>(std::bit_width(capacity) - 1);
  slots_ = ZeroedSlots<Slot>(capacity);
  for (seed_ = 0x6C617465U; seed_ < 0x6C617465U + 4; ++seed_) {
    std::string_view twice;
    if (fill_table(twice)) return {};
    if (twice.data() != nullptr) {
      return {StatusCode::kInvalidModel, fmt::format("the token {} occurs twice", core::quoted(twice))};
    }
    std::fill(slots_.begin(), slots_.end(), Slot{});
  }
  return {StatusCode::kUnsupported, "the tokens are chosen so that they cannot be told apart quickly"};
}

bool Vocabulary::fill_table(std::string_view& twice) {
  std::array<std::uint64_t, kAtOnce> states{};
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (i % kAtOnce == 0) {
      for (std::size_t k = 0; k < std::min(kAtOnce, entries_.size() - i); ++k) {
        states[k] = state_of(text_of(entries_[i + k]));
        __builtin_prefetch(&slots_[slot_of(states[k])], 1);
      }
    }
    const std::string_view token = text_of(entries_[i]);
    const std::uint64_t state = states[i % kAtOnce];
    const std::uint32_t tag = tag_of(state);
    std::size_t slot = slot_of(state);
    std::size_t probes = 0;
    while (slots_[slot].entry != 0) {
      if (slots_[slot].tag == tag && same_text(text_of(entries_[slots_[slot].entry - 1]), token)) {
        twice = token;
        return false;
      }
      if (++probes > kProbesMax) return false;
      slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = {tag, static_cast<std::uint32_t>(i + 1)};
  }
  return true;
}

void Vocabulary::find_all(std::span<const std::string_view> tokens, std::span<std::int32_t> ids) const {
  std::array<std::uint64_t, kAtOnce> states{};
  std::array<const Entry*, kAtOnce> likely{};
  while (!tokens.empty()) {
    const std::size_t count = std::min(kAtOnce, tokens.size());
    for (std::size_t i = 0; i < count; ++i) {
      states[i] = state_of(tokens[i]);
      __builtin_prefetch(&slots_[slot_of(states[i])]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t slot = slot_of(states[i]);
      while (slots_[slot].entry != 0 && slots_[slot].tag != tag_of(states[i]))
        slot = (slot + 1) & (slots_.size() - 1);
      likely[i] = slots_[slot].entry == 0 ? nullptr : &entries_[slots_[slot].entry - 1];
      __builtin_prefetch(likely[i]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (likely[i] != nullptr) __builtin_prefetch(&bytes_[likely[i]->offset]);
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
  const auto place = static_cast<std::size_t>(id);
  if (id >= 0 && place < entries_.size() && entries_[place].id == id) return text_of(entries_[place]);
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), id,
                                      [](const Entry& entry, std::int32_t wanted) { return entry.id < wanted; });
  if (found == entries_.end() || found->id != id) return std::nullopt;
  return text_of(*found);
}

std::size_t Vocabulary::longest() const {
  return longest_after({});
}

std::size_t Vocabulary::longest_after(std::string_view prefix) const {
  std::size_t longest = 0;
  for (const Entry& entry : entries_) {
    if (text_of(entry).starts_with(prefix)) longest = std::max(longest, entry.size - prefix.size());
  }
  return longest;
}

}  // namespace latebind::embedding
