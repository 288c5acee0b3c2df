#include <array>

#include "embedding/inputs/input.h"

namespace latebind::embedding {

std::span<const Input* const> inputs() {
  static constexpr std::array<const Input*, 2> kInputs{&kTextInput, &kPairInput};
  return kInputs;
}

}  // namespace latebind::embedding
