// MergeTable: maps a pair of tokens to the merged token and the rank.
//
// Filled once; then any thread may look up. As in Vocabulary, pairs that are chosen to collide are rejected.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "embedding/tokenizer/zeroed_slots.h"

namespace latebind::embedding {

class MergeTable {
 public:
  struct Merge {
    std::uint32_t rank;
    std::int32_t id;
  };

  explicit MergeTable(std::size_t merges) {
    const std::size_t capacity = std::bit_ceil(std::max<std::size_t>(merges * 2, 2));
    shift_ = 64U - static_cast<unsigned>(std::bit_width(capacity) - 1);
    slots_ = ZeroedSlots<Slot>(capacity);
  }

  // Prefetches the memory that add() of this pair will need.
  void prefetch(std::int32_t left, std::int32_t right) const {
    __builtin_prefetch(&slots_[slot_of(key_of(left, right))], 1);
  }

  // Adds a pair; a later one replaces an equal one. Returns false if too many collide.
  bool add(std::int32_t left, std::int32_t right, Merge merge) {
    const std::uint64_t key = key_of(left, right);
    std::size_t slot = slot_of(key);
    for (std::size_t probes = 0; slots_[slot].key != kFree && slots_[slot].key != key; ++probes) {
      if (probes > kProbesMax) return false;
      slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = {key, merge};
    return true;
  }

  // Null if the pair is not merged.
  [[nodiscard]] const Merge* find(std::int32_t left, std::int32_t right) const {
    const std::uint64_t key = key_of(left, right);
    for (std::size_t slot = slot_of(key); slots_[slot].key != kFree; slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot].key == key) return &slots_[slot].merge;
    }
    return nullptr;
  }

 private:
  static constexpr std::uint64_t kFree = 0;
  static constexpr std::size_t kProbesMax = 128;
  struct Slot {
    std::uint64_t key;
    Merge merge;
  };

  // No key equals kFree, since ids are below Vocabulary::kIdEnd.
  static std::uint64_t key_of(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(left + 1) << 32 | static_cast<std::uint32_t>(right);
  }
  [[nodiscard]] std::size_t slot_of(std::uint64_t key) const {
    const std::uint64_t mixed = (key ^ key >> 29) * 0xBF58476D1CE4E5B9U;
    return static_cast<std::size_t>((mixed ^ mixed >> 32) * 0x9E3779B97F4A7C15U >> shift_);
  }

  ZeroedSlots<Slot> slots_;
  unsigned shift_ = 63;
};

}  // namespace latebind::embedding
