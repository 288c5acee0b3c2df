// Reads tensors of an ONNX file, TensorProto, for network.h.
//
// Source: onnx.proto. One thread.
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

// Nothing for a number that is no element type of Latebind's.
[[nodiscard]] std::optional<core::ElementType> type_numbered(std::uint64_t number);

void append(std::vector<std::byte>& bytes, std::span<const std::byte> more);
// The constant's data becomes these, and is its own.
void own(Constant& constant, std::vector<std::byte> bytes);
// Numbers that a model has one by one instead of as raw data: each in so many bytes, its lowest ones.
void own(Constant& constant, std::span<const std::int64_t> numbers, std::size_t size);
// Where the data is as much as type and shape say, it is read; else there is none.
void take(Constant& constant);

// What is read counts for the limits of one file; what is beyond them, or no protobuf, is `damaged`.
struct TensorReader {
  ExternalData external{};
  std::size_t names = 0;
  bool damaged = false;

  // `name` receives the tensor's, where it is wanted.
  Constant tensor(std::span<const std::byte> bytes, std::string* name);
  // One, or packed.
  std::vector<std::int64_t> integers(const graph::ProtobufField& field);
  std::string named(const graph::ProtobufField& field);
  void count_name();
  void finish(const graph::ProtobufFields& fields) { damaged = damaged || fields.damaged(); }
};

}  // namespace latebind::onnx
