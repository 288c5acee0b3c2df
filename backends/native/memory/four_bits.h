// Packs matrices whose numbers have four bits in the file, for products in int8 (Panels::four_bits).
#pragma once

#include <cstddef>
#include <span>

#include "backends/native/kernels/kernels.h"
#include "core/tensor/computed_bytes.h"

namespace latebind::native {

// A panel of four bits that is being packed.
struct FourBitPanel {
  float* data = nullptr;
  std::size_t rows = 0;           // a multiple of kFourBitGroup
  std::size_t panel_columns = 0;  // of all panels
  std::size_t side_by_side = 1;   // as in Product
};

// Packs the columns of a panel from their groups, column by column. The panel's other columns become zeros. Each group
// becomes a line through its smallest and its largest number, in steps of 1/256 of a byte, so that a byte differs by at
// most one, and rarely, from the one that int8 has for the same number.
void pack_four_bits(std::span<const core::FourBitGroup> groups, const FourBitPanel& panel);

}  // namespace latebind::native
