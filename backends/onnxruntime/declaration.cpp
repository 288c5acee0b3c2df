#include "backends/onnxruntime/declaration.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "backends/onnxruntime/element_types.h"

namespace latebind::onnxruntime {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

enum class Side { kInput, kOutput };

class Reader {
 public:
  Reader(const Environment& environment, const abi::Session* session)
      : library_(environment.library()), api_(environment.api()), session_(session) {}

  Result<std::vector<Declared>> read(Side side) const {
    std::size_t count = 0;
    const auto get_count = side == Side::kInput ? api_.SessionGetInputCount : api_.SessionGetOutputCount;
    LB_ORT_RETURN_IF_ERROR(library_, get_count(session_, &count),
                           "ONNX Runtime does not report the number of the model's tensors");
    std::vector<Declared> result;
    for (std::size_t i = 0; i < count; ++i) {
      LB_ASSIGN_OR_RETURN(auto name, read_name(side, i));
      LB_ASSIGN_OR_RETURN(auto declared, read_one(side, i, std::move(name)));
      result.push_back(std::move(declared));
    }
    return result;
  }

 private:
  Result<std::string> read_name(Side side, std::size_t i) const {
    abi::Allocator* allocator = nullptr;  // owned by the vendor, must not be released
    LB_ORT_RETURN_IF_ERROR(library_, api_.GetAllocatorWithDefaultOptions(&allocator), "ONNX Runtime has no allocator");
    char* text = nullptr;
    const auto get_name = side == Side::kInput ? api_.SessionGetInputName : api_.SessionGetOutputName;
    LB_ORT_RETURN_IF_ERROR(library_, get_name(session_, i, allocator, &text),
                           "ONNX Runtime does not name the model's tensors");
    std::string name(text);
    if (auto* failure = api_.AllocatorFree(allocator, text)) api_.ReleaseStatus(failure);
    return name;
  }

  Result<Declared> read_one(Side side, std::size_t i, std::string name) const {
    const std::string what = fmt::format("{} '{}'", side == Side::kInput ? "input" : "output", name);
    const auto refuse = [&](std::string why) {
      return Status(StatusCode::kUnsupported, fmt::format("the model's {} {}", what, why));
    };
    const std::string unreadable = fmt::format("ONNX Runtime does not describe the model's {}", what);

    abi::TypeInfo* raw = nullptr;
    const auto get_type = side == Side::kInput ? api_.SessionGetInputTypeInfo : api_.SessionGetOutputTypeInfo;
    LB_ORT_RETURN_IF_ERROR(library_, get_type(session_, i, &raw), unreadable);
    const Owned<abi::TypeInfo> type(raw, api_.ReleaseTypeInfo);
    abi::ValueType value = abi::kUnknownValue;
    LB_ORT_RETURN_IF_ERROR(library_, api_.GetOnnxTypeFromTypeInfo(raw, &value), unreadable);
    const abi::TensorTypeAndShapeInfo* tensor = nullptr;  // part of `type`
    LB_ORT_RETURN_IF_ERROR(library_, api_.CastTypeInfoToTensorInfo(raw, &tensor), unreadable);
    if (value != abi::kTensorValue || tensor == nullptr)
      return refuse("is not a tensor (but a sequence, map or the like)");

    auto vendor = abi::kUndefined;
    LB_ORT_RETURN_IF_ERROR(library_, api_.GetTensorElementType(tensor, &vendor), unreadable);
    const auto element = element_type(vendor);
    if (!element) return refuse(fmt::format("is of type {}, which is not supported", vendor_type_name(vendor)));

    std::size_t rank = 0;
    LB_ORT_RETURN_IF_ERROR(library_, api_.GetDimensionsCount(tensor, &rank), unreadable);
    if (rank > core::kRankMax) {
      return refuse(fmt::format("has {} dimensions; at most {} are supported", rank, core::kRankMax));
    }
    if (side == Side::kInput && rank == 0 && api_.TensorTypeAndShape_HasShape != nullptr &&
        !api_.TensorTypeAndShape_HasShape(tensor)) {
      return refuse("has no declared number of dimensions, which is not supported");
    }
    std::array<std::int64_t, core::kRankMax> dims{};
    std::array<const char*, core::kRankMax> names{};  // owned by the vendor
    LB_ORT_RETURN_IF_ERROR(library_, api_.GetDimensions(tensor, dims.data(), rank), unreadable);
    LB_ORT_RETURN_IF_ERROR(library_, api_.GetSymbolicDimensions(tensor, names.data(), rank), unreadable);

    Declared declared;
    declared.info.name = std::move(name);
    declared.info.type = *element;
    for (std::size_t d = 0; d < rank; ++d) {
      if (dims[d] < 0) dims[d] = core::kDynamic;
      declared.dimension_names.emplace_back(names[d] != nullptr ? names[d] : "");
    }
    LB_ASSIGN_OR_RETURN(declared.info.shape, core::Shape::make({dims.data(), rank}));
    return declared;
  }

  const Library& library_;
  const abi::Api& api_;
  const abi::Session* session_;
};

}  // namespace

Result<Declaration> read_declaration(const Environment& environment, const abi::Session* session) {
  const Reader reader(environment, session);
  Declaration result;
  LB_ASSIGN_OR_RETURN(result.inputs, reader.read(Side::kInput));
  LB_ASSIGN_OR_RETURN(result.outputs, reader.read(Side::kOutput));
  return result;
}

}  // namespace latebind::onnxruntime
