#include "embedding/tokenizer/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/text/quote.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;

constexpr std::size_t kProbesMax = 128;

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
  // At most half full. Another seed spreads differently what one seed piles up.
  const std::size_t capacity = std::bit_ceil(std::max<std::size_t>(entries_.size() * 2, 2));
  shift_ = 64U - static_cast<unsigned>(std::bit_width(capacity) - 1);
  slots_.resize(capacity);
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
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const std::string_view token = text_of(entries_[i]);
    std::uint64_t state = seed_;
    for (const char byte : token)
      state = hash_step(state, byte);
    const std::uint32_t tag = tag_of(state);
    std::size_t slot = slot_of(state);
    std::size_t probes = 0;
    while (slots_[slot].entry != 0) {
      if (slots_[slot].tag == tag && text_of(entries_[slots_[slot].entry - 1]) == token) {
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

std::optional<std::int32_t> Vocabulary::find(std::string_view token) const {
  if (trie_) {
    std::optional<std::int32_t> found;
    for_each_prefix(token, [&](std::int32_t id, std::size_t size) {
      if (size == token.size()) found = id;
    });
    return found;
  }
  std::uint64_t state = seed_;
  for (const char byte : token)
    state = hash_step(state, byte);
  const std::int32_t id = find(state, {}, token);
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
