#include "server/protocols/kserve_types.h"

#include <algorithm>

namespace latebind::server::kserve {

using core::ElementType;

const std::array<DataType, 14>& data_types() {
  static constexpr std::array<DataType, 14> kTypes{{{"BOOL", ElementType::kBool},
                                                    {"INT8", ElementType::kI8},
                                                    {"INT16", ElementType::kI16},
                                                    {"INT32", ElementType::kI32},
                                                    {"INT64", ElementType::kI64},
                                                    {"UINT8", ElementType::kU8},
                                                    {"UINT16", ElementType::kU16},
                                                    {"UINT32", ElementType::kU32},
                                                    {"UINT64", ElementType::kU64},
                                                    {"FP16", ElementType::kF16, false},
                                                    {"BF16", ElementType::kBF16, false},
                                                    {"FP32", ElementType::kF32},
                                                    {"FP64", ElementType::kF64},
                                                    {"BYTES", std::nullopt}}};
  return kTypes;
}

const DataType* find_type(std::string_view name) {
  const auto* const found = std::ranges::find(data_types(), name, &DataType::name);
  return found == data_types().end() ? nullptr : found;
}

const DataType& type_of(ElementType element) {
  return *std::ranges::find(data_types(), std::optional(element), &DataType::element);
}

}  // namespace latebind::server::kserve
