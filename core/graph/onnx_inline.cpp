#include "core/graph/onnx_inline.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "core/graph/onnx_schema.h"
#include "core/graph/onnx_structure.h"
#include "core/graph/protobuf.h"
#include "core/text/quote.h"

namespace latebind::graph {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

std::string_view bytes_as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Status damaged_initializers() {
  return {StatusCode::kInvalidModel, "damaged ONNX model: its initializers cannot be read"};
}

// A piece of the result: its own bytes, followed by bytes of the model or of a file.
struct InlinePiece {
  std::string head;
  std::span<const std::byte> bytes;
  [[nodiscard]] std::size_t size() const { return head.size() + bytes.size(); }
};

void copy_field(ProtobufMessage& to, const ProtobufField& field) {
  if (field.kind == ProtobufKind::kVarint) {
    to.add_varint(field.number, field.value);
  } else if (field.kind == ProtobufKind::kBytes) {
    to.add_bytes(field.number, field.text());
  }
}

// Returns an initializer with its data inlined, or unchanged if its data is in the model already.
Result<InlinePiece> initializer(std::span<const std::byte> tensor, const ExternalBytes& files) {
  ExternalPlace place;
  bool is_external = false;
  ProtobufMessage rest;
  ProtobufFields fields(tensor);
  while (const auto field = fields.next()) {
    if (field->number == TensorProto::kExternalData && field->kind == ProtobufKind::kBytes) {
      if (!place.take(field->bytes)) return damaged_initializers();
    } else if (field->number == TensorProto::kDataLocation && field->kind == ProtobufKind::kVarint) {
      is_external = field->value != 0;
    } else {
      copy_field(rest, *field);
    }
  }
  if (fields.damaged()) return damaged_initializers();
  ProtobufMessage head;
  if (!is_external) {
    head.add_head(GraphProto::kInitializer, tensor.size());
    return InlinePiece{head.bytes(), tensor};
  }
  const auto file = files(place.location);
  if (!file) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("the ONNX model has data in {}, which does not exist", core::quoted(place.location)));
  }
  const auto data = place.data_in(*file);
  if (!data) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("the ONNX model has data beyond the end of {}", core::quoted(place.location)));
  }
  rest.add_head(TensorProto::kRawData, data->size());
  head.add_head(GraphProto::kInitializer, rest.bytes().size() + data->size());
  return InlinePiece{head.bytes() + rest.bytes(), *data};
}

}  // namespace

Result<std::string> with_inline_data(std::span<const std::byte> model, const ExternalBytes& files) {
  ProtobufMessage before;  // the whole model except its graph
  std::vector<InlinePiece> graph;
  std::size_t graph_size = 0;
  ProtobufFields fields(model);
  while (const auto field = fields.next()) {
    if (field->number != ModelProto::kGraph || field->kind != ProtobufKind::kBytes) {
      copy_field(before, *field);
      continue;
    }
    ProtobufFields of_graph(field->bytes);
    while (const auto part = of_graph.next()) {
      InlinePiece piece;
      if (part->number == GraphProto::kInitializer && part->kind == ProtobufKind::kBytes) {
        LB_ASSIGN_OR_RETURN(piece, initializer(part->bytes, files));
      } else {
        ProtobufMessage copy;
        copy_field(copy, *part);
        piece.head = copy.bytes();
      }
      graph_size += piece.size();
      graph.push_back(std::move(piece));
    }
    if (of_graph.damaged()) return damaged_initializers();
  }
  if (fields.damaged()) return damaged_initializers();
  if (graph_size > kModelBytesMax) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{} MiB are too much for an ONNX model without external data", graph_size >> 20U));
  }
  before.add_head(ModelProto::kGraph, graph_size);
  std::string whole;
  whole.reserve(before.bytes().size() + graph_size);
  whole += before.bytes();
  for (const InlinePiece& piece : graph) {
    whole += piece.head;
    whole += bytes_as_text(piece.bytes);
  }
  return whole;
}

}  // namespace latebind::graph
