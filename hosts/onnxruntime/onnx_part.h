// PartWriter: some nodes of the host's graph, written as an ONNX model.
//
// Source: onnx.proto of ONNX 1.16. One thread; what is read of the host's memory is copied.
#pragma once

#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/protobuf.h"
#include "core/platform/files/output_file.h"
#include "core/platform/files/temporary_folder.h"
#include "hosts/onnxruntime/graph.h"

namespace latebind::provider {

class PartWriter {
  // A file that is being written, in a folder that goes with it.
  struct TemporaryWeights {
    platform::TemporaryFolder folder;
    platform::OutputFile file;
  };

 public:
  // `folder`: where the host's model is, "" when it is nowhere. `weights_size`: of all weights, in bytes; only a few
  // are put into the model.
  PartWriter(const Host& host, std::filesystem::path folder, std::size_t weights_size, WeightsPlace place);

  // Throws Failure for attributes that have no place in a part: graphs.
  void add_node(const NodeView& node);
  void add_initializer(const ValueView& value);
  void add_input(const std::string& name, const TypeView& type);
  void add_output(const std::string& name, const TypeView& type);
  [[nodiscard]] OnnxPart finish(std::int64_t ir_version, std::int64_t opset) &&;

 private:
  [[nodiscard]] graph::ProtobufMessage tensor(const abi::Value* value, bool may_be_external);
  // Appends to the temporary file, and gives the place there.
  [[nodiscard]] std::size_t add_temporary(std::string_view bytes);
  // False when the host has it in memory, or its file cannot be used.
  [[nodiscard]] bool add_by_reference(const ValueView& value);

  const Host& host_;
  const std::filesystem::path folder_;
  const bool inline_weights_;
  graph::ProtobufMessage graph_;
  std::optional<TemporaryWeights> temporary_;  // of what is in memory
  OnnxPart part_;
};

// The bytes of a constant initializer.
[[nodiscard]] std::size_t initializer_size(const Host& host, const ValueView& value);

// The bytes of an attribute that has a size of its own: a string, or an array of numbers or strings.
[[nodiscard]] std::string attribute_bytes(const Host& host, const abi::OpAttr* attribute, abi::OpAttrType type);

// The numbers of such an array.
template <class Number>
std::vector<Number> numbers_of(const std::string& bytes) {
  std::vector<Number> values(bytes.size() / sizeof(Number));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Number));
  return values;
}

}  // namespace latebind::provider
