// ElementTypes: the numbers of element types in OpenVINO's C interface.
//
// The numbers are not stable. Up to 2025.0, "undefined" and "dynamic" were two entries; from 2025.1 on they are one,
// and all later numbers decreased by one. Therefore the numbering of a library is determined when it is loaded
// (load.cpp), and every number is translated here. Constant after construction; any thread.
#pragma once

#include <optional>
#include <string>

#include "backends/openvino/abi.h"
#include "core/tensor/tensor.h"

namespace latebind::openvino {

enum class ElementNumbering { k2024, k2025 };  // up to 2025.0; from 2025.1 on

class ElementTypes {
 public:
  explicit ElementTypes(ElementNumbering numbering) : shift_(numbering == ElementNumbering::k2024 ? 1U : 0U) {}

  [[nodiscard]] abi::ElementCode code_of(core::ElementType type) const;
  // std::nullopt for types that Latebind does not have: sub-byte integers, f8, strings.
  [[nodiscard]] std::optional<core::ElementType> type_of(abi::ElementCode code) const;
  // A name for messages: "u4", "string", or the number.
  [[nodiscard]] std::string name_of(abi::ElementCode code) const;

 private:
  unsigned shift_;
};

}  // namespace latebind::openvino
