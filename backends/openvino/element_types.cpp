#include "backends/openvino/element_types.h"

#include <array>
#include <string_view>

namespace latebind::openvino {
namespace {

using core::ElementType;

struct Entry {
  std::string_view name;
  std::optional<ElementType> type;
};

// By number, as from 2025.1 on.
constexpr std::array kEntries{
    Entry{"dynamic", {}},
    Entry{"bool", ElementType::kBool},
    Entry{"bf16", ElementType::kBF16},
    Entry{"f16", ElementType::kF16},
    Entry{"f32", ElementType::kF32},
    Entry{"f64", ElementType::kF64},
    Entry{"i4", {}},
    Entry{"i8", ElementType::kI8},
    Entry{"i16", ElementType::kI16},
    Entry{"i32", ElementType::kI32},
    Entry{"i64", ElementType::kI64},
    Entry{"u1", {}},
    Entry{"u2", {}},
    Entry{"u3", {}},
    Entry{"u4", {}},
    Entry{"u6", {}},
    Entry{"u8", ElementType::kU8},
    Entry{"u16", ElementType::kU16},
    Entry{"u32", ElementType::kU32},
    Entry{"u64", ElementType::kU64},
    Entry{"nf4", {}},
    Entry{"f8e4m3", {}},
    Entry{"f8e5m2", {}},
    Entry{"string", {}},
    Entry{"f4e2m1", {}},
    Entry{"f8e8m0", {}},
};

}  // namespace

abi::ElementCode ElementTypes::code_of(ElementType type) const {
  for (unsigned i = 0; i < kEntries.size(); ++i) {
    if (kEntries[i].type == type) return i + shift_;
  }
  return 0;  // "dynamic": the library never creates tensors of this type
}

std::optional<ElementType> ElementTypes::type_of(abi::ElementCode code) const {
  if (code < shift_ || code - shift_ >= kEntries.size()) return std::nullopt;
  return kEntries[code - shift_].type;
}

std::string ElementTypes::name_of(abi::ElementCode code) const {
  if (code < shift_) return "undefined";
  if (code - shift_ >= kEntries.size()) return "number " + std::to_string(code);
  return std::string(kEntries[code - shift_].name);
}

}  // namespace latebind::openvino
