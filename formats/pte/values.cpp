#include "formats/pte/values.h"

#include <fmt/format.h>

#include <utility>

namespace latebind::pte {

using core::Result;
using core::Status;
using core::StatusCode;

namespace fb = executorch_flatbuffer;

namespace {

std::string_view kind_of(fb::KernelTypes type) {
  switch (type) {
    case fb::KernelTypes::Tensor:
      return "tensor";
    case fb::KernelTypes::Int:
      return "int";
    case fb::KernelTypes::Bool:
      return "bool";
    case fb::KernelTypes::Double:
      return "double";
    case fb::KernelTypes::String:
      return "string";
    case fb::KernelTypes::IntList:
    case fb::KernelTypes::DoubleList:
    case fb::KernelTypes::BoolList:
    case fb::KernelTypes::TensorList:
    case fb::KernelTypes::OptionalTensorList:
      return "list";
    default:
      return "none";
  }
}

Result<Tensor> tensor_from(const fb::Tensor& stored) {
  Tensor tensor;
  tensor.type = static_cast<std::int8_t>(stored.scalar_type());
  const std::size_t rank = count_of(stored.sizes());
  if (rank > kRankMax) return too_many("dimensions in a tensor", rank, kRankMax);
  if (count_of(stored.dim_order()) > kRankMax) {
    return too_many("entries in an order of dimensions", count_of(stored.dim_order()), kRankMax);
  }
  for (std::size_t i = 0; i < rank; ++i) {
    tensor.sizes.push_back(stored.sizes()->Get(static_cast<flatbuffers::uoffset_t>(i)));
    if (tensor.sizes.back() < 0) return damaged(fmt::format("a tensor has the dimension {}", tensor.sizes.back()));
  }
  for (std::size_t i = 0; i < count_of(stored.dim_order()); ++i)
    tensor.dim_order.push_back(stored.dim_order()->Get(static_cast<flatbuffers::uoffset_t>(i)));
  switch (stored.shape_dynamism()) {
    case fb::TensorShapeDynamism::STATIC:
      tensor.dynamism = Dynamism::kStatic;
      break;
    case fb::TensorShapeDynamism::DYNAMIC_BOUND:
      tensor.dynamism = Dynamism::kBounded;
      break;
    default:
      tensor.dynamism = Dynamism::kUnbounded;
  }
  if (const auto* place = stored.allocation_info(); place != nullptr) {
    tensor.is_planned = true;
    tensor.memory_id = place->memory_id();
    tensor.memory_offset =
        (std::uint64_t{place->memory_offset_high()} << 32U) | std::uint64_t{place->memory_offset_low()};
  }
  return tensor;
}

}  // namespace

Status damaged(const std::string& what) {
  return {StatusCode::kInvalidModel, fmt::format("the program is damaged: {}", what)};
}

Status too_many(std::string_view what, std::uint64_t count, std::size_t most) {
  return {StatusCode::kInvalidModel, fmt::format("the program has {} {}; the limit is {}", count, what, most)};
}

Result<std::vector<Value>> values_from(const fb::ExecutionPlan& plan, const flatbuffers::Vector<std::int32_t>* list,
                                       std::string_view what, std::size_t most) {
  std::vector<Value> values;
  if (count_of(list) > most) return too_many(what, count_of(list), most);
  for (std::size_t i = 0; i < count_of(list); ++i) {
    const std::int32_t at = list->Get(static_cast<flatbuffers::uoffset_t>(i));
    if (at < 0 || static_cast<std::size_t>(at) >= count_of(plan.values())) {
      return damaged(fmt::format("one of the {} is value {} of {}", what, at, count_of(plan.values())));
    }
    const fb::EValue* stored = plan.values()->Get(static_cast<flatbuffers::uoffset_t>(at));
    Value value;
    value.kind = kind_of(stored->val_type());
    if (const fb::Tensor* tensor = stored->val_as_Tensor(); tensor != nullptr) {
      LB_ASSIGN_OR_RETURN(value.tensor, tensor_from(*tensor));
    } else if (stored->val_type() == fb::KernelTypes::Tensor) {
      return damaged("a tensor is missing");
    }
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace latebind::pte
