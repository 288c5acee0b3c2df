// Lists every offset in a verified flatbuffer with its position and target. The list is needed to insert space without
// rebuilding the flatbuffer. Used only within this folder; pure functions, any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/pte/verified.h"

namespace latebind::pte {

// Positions are bytes from the beginning of the flatbuffer. An offset to a vtable is subtracted from its position, all
// other offsets are added.
struct OffsetPlace {
  std::uint32_t at = 0;
  std::uint32_t target = 0;
  bool is_vtable = false;

  friend bool operator==(const OffsetPlace&, const OffsetPlace&) = default;
};

struct Offsets {
  std::vector<OffsetPlace> places;  // sorted, without duplicates; the first is that of the root table
  // False if there are fields or kinds of values that the schema does not have: there may be more offsets.
  bool is_complete = true;
};

[[nodiscard]] Offsets offsets_of(const VerifiedProgram& program);

}  // namespace latebind::pte
