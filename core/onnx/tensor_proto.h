// Reads the tensors of an ONNX file (TensorProto) for network.h.
//
// Source: onnx.proto. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/graph/protobuf.h"
#include "core/onnx/network.h"

namespace latebind::onnx {

void append(std::vector<std::byte>& bytes, std::span<const std::byte> more);
// Gives the constant its own copy of data.
void own(Constant& constant, std::vector<std::byte> bytes);
// Likewise, for numbers that a model lists one by one instead of as raw data: stores the lowest `size` bytes of each.
void own(Constant& constant, std::span<const std::int64_t> numbers, std::size_t size);
// Marks the data as read if its size fits the type and shape; otherwise drops it.
void take(Constant& constant);

// Reads tensors and counts what it reads against the limits of one file. `damaged` becomes true when a limit is
// exceeded or the bytes are not protobuf.
struct TensorReader {
  ExternalData external{};
  std::size_t names = 0;
  bool damaged = false;

  // If `name` is not null, it receives the tensor's name.
  Constant tensor(std::span<const std::byte> bytes, std::string* name);
  // Reads one integer, or a packed list.
  std::vector<std::int64_t> integers(const graph::ProtobufField& field);
  std::string named(const graph::ProtobufField& field);
  void count_name();
  void finish(const graph::ProtobufFields& fields) { damaged = damaged || fields.damaged(); }
};

}  // namespace latebind::onnx
