// Every offset in a verified flatbuffer: its position and its target. Needed to insert space into one without
// rebuilding it. For the files of this folder; pure.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/pte/verified.h"

namespace latebind::pte {

// Positions are bytes from the flatbuffer's beginning. An offset to a vtable is subtracted from its place, all others
// are added to it.
struct OffsetPlace {
  std::uint32_t at = 0;
  std::uint32_t target = 0;
  bool is_vtable = false;

  friend bool operator==(const OffsetPlace&, const OffsetPlace&) = default;
};

struct Offsets {
  std::vector<OffsetPlace> places;  // sorted, each once; the first is that of the root table
  // False when there are fields or kinds of values that the schema does not have: there may be more offsets then.
  bool is_complete = true;
};

[[nodiscard]] Offsets offsets_of(const VerifiedProgram& program);

}  // namespace latebind::pte
