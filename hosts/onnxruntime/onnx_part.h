// PartWriter: writes some nodes of the host's graph as an ONNX model.
//
// Source: onnx.proto of ONNX 1.16. One thread. Data in the host's memory is copied once, by finish(); weights in files
// are not copied.
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
  // A file that is being written, in a folder that is removed with it.
  struct TemporaryWeights {
    platform::TemporaryFolder folder;
    platform::OutputFile file;
  };
  // A tensor of the host; `data` is the host's memory.
  struct HostTensor {
    graph::ProtobufMessage message;  // without the data
    std::string_view data;
  };

 public:
  // `folder` contains the host's model, "" if it is not in a file; `model_file` is the model itself, null if it is not
  // in a file. `weights_size` is the size of all weights in bytes.
  PartWriter(const Host& host, std::filesystem::path folder, std::shared_ptr<const ModelFile> model_file,
             std::size_t weights_size, WeightsPlace place);

  // Throws Failure for graph attributes, which a part cannot contain.
  void add_node(const NodeView& node);
  void add_initializer(const ValueView& value);
  void add_input(const std::string& name, const TypeView& type);
  void add_output(const std::string& name, const TypeView& type);
  [[nodiscard]] OnnxPart finish(std::int64_t ir_version, std::int64_t opset) &&;

 private:
  [[nodiscard]] HostTensor tensor(const abi::Value* value) const;
  [[nodiscard]] graph::ProtobufMessage attribute(const NodeView& node, const abi::OpAttr* raw) const;
  // Appends to the temporary file, and returns the offset.
  [[nodiscard]] std::size_t add_temporary(std::string_view bytes);
  // Returns false if the host has the initializer in memory, or its file cannot be used.
  [[nodiscard]] bool add_by_reference(const ValueView& value);
  // Null if the file cannot be mapped.
  [[nodiscard]] std::shared_ptr<const platform::MappedFile> application_file(const std::filesystem::path& path) const;
  void add_in_file(graph::ProtobufMessage message, const std::shared_ptr<const platform::MappedFile>& file,
                   std::uint64_t offset, std::size_t size);
  // Moves data that only the host's memory has to a file, if it is large.
  void put_beside();
  void close_temporary();

  const Host& host_;
  const std::filesystem::path folder_;
  const std::shared_ptr<const ModelFile> model_file_;
  const WeightsPlace place_;
  const bool may_refer_;  // whether it may refer to files
  graph::ProtobufMessage graph_;
  std::vector<HostTensor> in_memory_;  // initializers; the data follows the message
  std::optional<TemporaryWeights> temporary_;
  OnnxPart part_;
};

// Whether weights of this size in bytes may stay in the files that contain them.
[[nodiscard]] bool may_stay_in_files(std::size_t weights_size, WeightsPlace place);

// y = relu(x) of one number, which any device takes unless the options are wrong.
[[nodiscard]] OnnxPart smallest_part();

// Bytes of a constant initializer.
[[nodiscard]] std::size_t initializer_size(const Host& host, const ValueView& value);

[[nodiscard]] std::vector<const abi::OpAttr*> attributes_of(const Host& host, const abi::Node* node);
// Bytes of an attribute of variable size: a string, or an array of numbers or strings.
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
