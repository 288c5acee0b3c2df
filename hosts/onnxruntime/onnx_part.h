// PartWriter: some nodes of the host's graph, written as an ONNX model.
//
// Source: onnx.proto of ONNX 1.16. One thread. What is read of the host's memory is copied once, by finish(); weights
// that a file has are not copied.
#pragma once

#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/protobuf.h"
#include "core/platform/files/output_file.h"
#include "core/platform/files/temporary_folder.h"
#include "hosts/onnxruntime/graph.h"
#include "hosts/onnxruntime/model_file.h"

namespace latebind::provider {

class PartWriter {
  // A file that is being written, in a folder that goes with it.
  struct TemporaryWeights {
    platform::TemporaryFolder folder;
    platform::OutputFile file;
  };
  // A tensor of the host's; `data` is its own memory.
  struct HostTensor {
    graph::ProtobufMessage message;  // without the data
    std::string_view data;
  };

 public:
  // `folder`: where the host's model is, "" when it is nowhere; `model_file`: the model itself, null when it is not a
  // file. `weights_size`: of all weights, in bytes.
  PartWriter(const Host& host, std::filesystem::path folder, std::shared_ptr<const ModelFile> model_file,
             std::size_t weights_size, WeightsPlace place);

  // Throws Failure for attributes that have no place in a part: graphs.
  void add_node(const NodeView& node);
  void add_initializer(const ValueView& value);
  void add_input(const std::string& name, const TypeView& type);
  void add_output(const std::string& name, const TypeView& type);
  [[nodiscard]] OnnxPart finish(std::int64_t ir_version, std::int64_t opset) &&;

 private:
  [[nodiscard]] HostTensor tensor(const abi::Value* value) const;
  // Appends to the temporary file, and gives the place there.
  [[nodiscard]] std::size_t add_temporary(std::string_view bytes);
  // False when the host has it in memory, or its file cannot be used.
  [[nodiscard]] bool add_by_reference(const ValueView& value);
  // Null when it cannot be mapped.
  [[nodiscard]] std::shared_ptr<const platform::MappedFile> application_file(const std::filesystem::path& path) const;
  void add_in_file(graph::ProtobufMessage message, const std::shared_ptr<const platform::MappedFile>& file,
                   std::uint64_t offset, std::size_t size);
  // What only the host's memory has: beside the model where it is much.
  void put_beside();
  void close_temporary();

  const Host& host_;
  const std::filesystem::path folder_;
  const std::shared_ptr<const ModelFile> model_file_;
  const WeightsPlace place_;
  const bool may_refer_;  // to files
  graph::ProtobufMessage graph_;
  std::vector<HostTensor> in_memory_;  // initializers; the data follows the message
  std::optional<TemporaryWeights> temporary_;
  OnnxPart part_;
};

// Whether weights of that size, in bytes, are many enough to stay in the files that have them.
[[nodiscard]] bool may_stay_in_files(std::size_t weights_size, WeightsPlace place);

// y = relu(x) of one number: what any device takes, unless the options are wrong.
[[nodiscard]] OnnxPart smallest_part();

// The bytes of a constant initializer.
[[nodiscard]] std::size_t initializer_size(const Host& host, const ValueView& value);

[[nodiscard]] std::vector<const abi::OpAttr*> attributes_of(const Host& host, const abi::Node* node);
// The bytes of an attribute that has a size of its own: a string, or an array of numbers or strings.
[[nodiscard]] std::size_t attribute_size(const Host& host, const abi::OpAttr* attribute, abi::OpAttrType type);
[[nodiscard]] std::string attribute_bytes(const Host& host, const abi::OpAttr* attribute, abi::OpAttrType type);

// The numbers of such an array.
template <class Number>
std::vector<Number> numbers_of(const std::string& bytes) {
  std::vector<Number> values(bytes.size() / sizeof(Number));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Number));
  return values;
}

}  // namespace latebind::provider
