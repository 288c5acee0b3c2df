// The element types of KServe's protocol and their names.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/tensor/tensor.h"

namespace latebind::server::kserve {

struct DataType {
  std::string_view name;                     // "FP32"
  std::optional<core::ElementType> element;  // std::nullopt: BYTES, elements of any length
  bool has_json = true;                      // whether its elements can be expressed in JSON
};

[[nodiscard]] const std::array<DataType, 14>& data_types();
// Returns null for an unknown name.
[[nodiscard]] const DataType* find_type(std::string_view name);
[[nodiscard]] const DataType& type_of(core::ElementType element);

}  // namespace latebind::server::kserve
