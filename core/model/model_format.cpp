// Recognises the format of a model by its first bytes.
#include <algorithm>
#include <cstddef>

#include "core/graph/onnx_schema.h"
#include "core/model/model.h"

namespace latebind::core {
namespace {

// The part of a file that identifies its format.
constexpr std::size_t kSniffedSize = 512;

std::string_view head_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kSniffedSize)};
}

bool looks_like_ir(std::string_view head) {
  return head.find("<net") != std::string_view::npos && head.find_first_not_of(" \t\r\n\xEF\xBB\xBF") == head.find('<');
}

// An ONNX file is a protobuf message: it begins with the tag of one of ModelProto's fields, with that field's wire
// type.
bool looks_like_onnx(std::string_view head) {
  if (head.size() < 4) return false;
  constexpr unsigned kVarint = 0;
  constexpr unsigned kLengthDelimited = 2;
  const auto tag = static_cast<unsigned char>(head[0]);
  switch (tag >> 3U) {
    case graph::ModelProto::kIrVersion:
    case graph::ModelProto::kModelVersion:
      return (tag & 7U) == kVarint;
    case graph::ModelProto::kProducerName:
    case graph::ModelProto::kProducerVersion:
    case graph::ModelProto::kDomain:
    case graph::ModelProto::kDocString:
    case graph::ModelProto::kGraph:
    case graph::ModelProto::kOpsetImport:
    case graph::ModelProto::kMetadataProps:
      return (tag & 7U) == kLengthDelimited;
    default:
      return false;
  }
}

}  // namespace

std::optional<ModelFormat> format_of(std::span<const std::byte> bytes) {
  const std::string_view head = head_of(bytes);
  if (looks_like_ir(head)) return ModelFormat::kOpenvinoIr;
  if (looks_like_onnx(head)) return ModelFormat::kOnnx;
  return std::nullopt;
}

}  // namespace latebind::core
