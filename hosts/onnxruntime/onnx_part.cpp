#include "hosts/onnxruntime/onnx_part.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "core/graph/onnx_builder.h"
#include "core/graph/onnx_schema.h"
#include "core/tensor/tensor.h"

namespace latebind::provider {
namespace {

using graph::GraphProto;
using graph::ProtobufMessage;
using graph::TensorProto;

// Smaller initializers, such as axes and shapes, always stay in the model: they influence how it is compiled.
constexpr std::size_t kSmallBytes = 4096;
constexpr std::size_t kAlignment = 64;
// Up to this size, all weights are put into the model, since writing a file for the vendor would take longer.
constexpr std::size_t kFewBytes = std::size_t{8} << 20U;
// Beyond this size, weights that no file contains go to a temporary file, whose pages the system can reclaim.
constexpr std::size_t kInlineBytesMax = std::size_t{256} << 20U;
// Protobuf's readers accept 2 GiB, including the nodes.
constexpr std::size_t kModelBytesMax = std::size_t{1984} << 20U;
constexpr std::size_t kAttributeBytesMax = std::size_t{1} << 31U;
constexpr const char* kTemporary = "weights.bin";

void add_place(ProtobufMessage& tensor, const std::string& location, std::uint64_t offset, std::uint64_t size) {
  graph::add_external_place(tensor, {.location = location, .offset = offset, .length = size});
  tensor.add_varint(TensorProto::kDataLocation, TensorProto::kExternal);
}

// The file that contains an initializer, owned by the caller; null if it is in memory.
using ExternalInfo = std::unique_ptr<abi::ExternalInitializerInfo, void (*)(abi::ExternalInitializerInfo*)>;
ExternalInfo external_info(const Host& host, const ValueView& value) {
  abi::ExternalInitializerInfo* raw = nullptr;
  host.check(host->ValueInfo_GetExternalInitializerInfo(value.raw, &raw));
  return {raw, host->ReleaseExternalInitializerInfo};
}

const abi::Value* initializer(const Host& host, const ValueView& value) {
  const abi::Value* found = nullptr;
  host.check(host->ValueInfo_GetInitializerValue(value.raw, &found));
  if (found == nullptr) throw Failure(abi::kInvalidGraph, "Latebind: '" + value.name + "' has no value");
  return found;
}

ProtobufMessage port(const std::string& name, const TypeView& type) {
  if (!type.has_shape) return graph::value_info(name, type.onnx_type, std::nullopt);
  std::vector<graph::OnnxDimension> shape;
  for (std::size_t i = 0; i < type.shape.size(); ++i)
    shape.push_back({.size = type.shape[i], .name = type.symbols[i]});
  return graph::value_info(name, type.onnx_type, shape);
}

// Checks that the size of the host's memory matches the tensor's shape, before it is read.
void check_size(std::span<const std::int64_t> shape, abi::ElementType type, std::size_t size) {
  const std::int32_t ours = latebind_type(type);
  if (ours == 0) return;
  std::size_t bytes = core::size_of(static_cast<core::ElementType>(ours));
  for (const std::int64_t dimension : shape)
    bytes *= static_cast<std::size_t>(dimension);
  if (bytes != size)
    throw Failure(abi::kFail, "Latebind: the host reports a size of a tensor that does not match its shape");
}

}  // namespace

std::size_t initializer_size(const Host& host, const ValueView& value) {
  // The file is not opened, since that would map it.
  if (const ExternalInfo info = external_info(host, value)) {
    if (const std::size_t size = host->ExternalInitializerInfo_GetByteSize(info.get()); size > 0) return size;
  }
  std::size_t size = 0;
  host.check(host->GetTensorSizeInBytes(initializer(host, value), &size));
  return size;
}

std::vector<const abi::OpAttr*> attributes_of(const Host& host, const abi::Node* node) {
  std::size_t count = 0;
  host.check(host->Node_GetNumAttributes(node, &count));
  std::vector<const abi::OpAttr*> attributes(Host::need_count(count, "number of attributes"));
  if (count > 0) host.check(host->Node_GetAttributes(node, attributes.data(), count));
  return attributes;
}

std::size_t attribute_size(const Host& host, const abi::OpAttr* attribute, abi::OpAttrType type) {
  std::size_t size = 0;
  char none = 0;
  // The host returns the size, together with an error if it is not zero.
  if (abi::Status* too_small = host->ReadOpAttr(attribute, type, &none, 0, &size)) host->ReleaseStatus(too_small);
  if (size > kAttributeBytesMax) throw Failure(abi::kInvalidGraph, "Latebind: an attribute has more than 2 GiB");
  return size;
}

std::string attribute_bytes(const Host& host, const abi::OpAttr* attribute, abi::OpAttrType type) {
  std::size_t size = attribute_size(host, attribute, type);
  std::string bytes(size, '\0');
  if (size > 0) host.check(host->ReadOpAttr(attribute, type, bytes.data(), size, &size));
  return bytes;
}

bool may_stay_in_files(std::size_t weights_size, WeightsPlace place) {
  return place == WeightsPlace::kBesideWhenMany && weights_size > kFewBytes;
}

PartWriter::PartWriter(const Host& host, std::filesystem::path folder, std::shared_ptr<const ModelFile> model_file,
                       std::size_t weights_size, WeightsPlace place)
    : host_(host),
      folder_(std::move(folder)),
      model_file_(std::move(model_file)),
      place_(place),
      may_refer_(may_stay_in_files(weights_size, place)) {
  if (place != WeightsPlace::kInModel || weights_size <= kModelBytesMax) return;
  throw Failure(abi::kNotImplemented, "Latebind: " + std::to_string(weights_size >> 20U) +
                                          " MiB of weights are too much for a compiled model, which has up to " +
                                          std::to_string(kModelBytesMax >> 20U));
}

std::size_t PartWriter::add_temporary(std::string_view bytes) {
  std::size_t place = 0;
  require([&]() -> core::Status {
    if (!temporary_) {
      LB_ASSIGN_OR_RETURN(auto folder, platform::TemporaryFolder::create("weights"));
      LB_ASSIGN_OR_RETURN(auto file, platform::OutputFile::create(folder.path() / kTemporary));
      temporary_.emplace(TemporaryWeights{std::move(folder), std::move(file)});
    }
    platform::OutputFile& file = temporary_->file;
    LB_RETURN_IF_ERROR(file.write(std::string((kAlignment - file.size() % kAlignment) % kAlignment, '\0')));
    place = file.size();
    return file.write(bytes);
  }());
  return place;
}

PartWriter::HostTensor PartWriter::tensor(const abi::Value* value) const {
  abi::ElementType type{};
  const std::int64_t* shape = nullptr;
  std::size_t rank = 0;
  host_.check(host_->GetTensorElementTypeAndShapeDataReference(value, &type, &shape, &rank));
  std::size_t size = 0;
  host_.check(host_->GetTensorSizeInBytes(value, &size));
  const void* data = nullptr;
  host_.check(host_->GetTensorData(value, &data));
  if (size > 0) Host::need(data, "data of a tensor");
  if (Host::need_count(rank, "rank") > 0) Host::need(shape, "shape of a tensor");
  check_size({shape, rank}, type, size);
  return {graph::tensor_head(type, {shape, rank}), {size > 0 ? static_cast<const char*>(data) : "", size}};
}

ProtobufMessage PartWriter::attribute(const NodeView& node, const abi::OpAttr* raw) const {
  const char* name = nullptr;
  host_.check(host_->OpAttr_GetName(Host::need(raw, "attribute"), &name));
  Host::need(name, "name of an attribute");
  abi::OpAttrType type{};
  host_.check(host_->OpAttr_GetType(raw, &type));
  std::size_t size = 0;
  if (type == abi::kAttrFloat) {
    float value = 0;
    host_.check(host_->ReadOpAttr(raw, type, &value, sizeof value, &size));
    return graph::float_attribute(name, value);
  }
  if (type == abi::kAttrInt) {
    std::int64_t value = 0;
    host_.check(host_->ReadOpAttr(raw, type, &value, sizeof value, &size));
    return graph::int_attribute(name, value);
  }
  if (type == abi::kAttrTensor) {
    abi::Value* value = nullptr;
    host_.check(host_->OpAttr_GetTensorAttributeAsOrtValue(raw, &value));
    Host::need(value, "tensor of an attribute");
    const auto release = [this](abi::Value* owned) { host_->ReleaseValue(owned); };
    const std::unique_ptr<abi::Value, decltype(release)> owned(value, release);
    HostTensor read = tensor(value);
    read.message.add_bytes(TensorProto::kRawData, read.data);
    return graph::tensor_attribute(name, read.message);
  }
  if (type != abi::kAttrString && type != abi::kAttrStrings && type != abi::kAttrFloats && type != abi::kAttrInts)
    throw Failure(abi::kNotImplemented, node.text() + ": its attribute " + name + " is of an unknown kind");
  const std::string bytes = attribute_bytes(host_, raw, type);
  if (type == abi::kAttrString) return graph::string_attribute(name, bytes);
  if (type == abi::kAttrFloats) return graph::floats_attribute(name, numbers_of<float>(bytes));
  if (type == abi::kAttrInts) return graph::ints_attribute(name, numbers_of<std::int64_t>(bytes));
  std::vector<std::string_view> texts;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\0', at), bytes.size());
    texts.push_back(std::string_view(bytes).substr(at, end - at));
    at = end + 1;
  }
  return graph::strings_attribute(name, texts);
}

void PartWriter::add_node(const NodeView& node) {
  const auto names_of = [](const std::vector<ValueView>& values) {
    std::vector<std::string> names;
    for (const ValueView& value : values)
      names.push_back(value.name);
    return names;
  };
  std::vector<ProtobufMessage> attributes;
  for (const abi::OpAttr* raw : attributes_of(host_, node.raw))
    attributes.push_back(attribute(node, raw));
  graph_.add_message(GraphProto::kNode, graph::node_message(node.op, names_of(node.inputs), names_of(node.outputs),
                                                            node.name, attributes));
}

bool PartWriter::add_by_reference(const ValueView& value) {
  const ExternalInfo info = external_info(host_, value);
  if (info == nullptr || folder_.empty()) return false;
  const std::filesystem::path name =
      Host::need(host_->ExternalInitializerInfo_GetFilePath(info.get()), "file of an initializer");
  const std::int64_t offset = host_->ExternalInitializerInfo_GetFileOffset(info.get());
  const std::size_t size = host_->ExternalInitializerInfo_GetByteSize(info.get());
  const TypeView type = type_of(host_, value);
  const bool is_described = type.is_tensor && type.has_shape &&
                            std::ranges::none_of(type.shape, [](std::int64_t dimension) { return dimension < 0; });
  // The host has checked the name as well; names that lead elsewhere are left to it.
  const bool leaves = name.has_root_path() || std::ranges::find(name, std::filesystem::path("..")) != name.end();
  if (!is_described || leaves || size < kSmallBytes || offset < 0) return false;
  const auto file = application_file(folder_ / name);
  if (file == nullptr) return false;
  const std::size_t all = file->bytes().size();
  if (size > all || static_cast<std::size_t>(offset) > all - size) return false;
  add_in_file(graph::tensor_head(type.onnx_type, type.shape, value.name), file, static_cast<std::uint64_t>(offset),
              size);
  return true;
}

std::shared_ptr<const platform::MappedFile> PartWriter::application_file(const std::filesystem::path& path) const {
  for (const ExternalWeights& weights : part_.weights)
    if (weights.file->file() == path) return weights.file;
  auto mapped = platform::MappedFile::open(path);
  return mapped.ok() ? std::make_shared<const platform::MappedFile>(*std::move(mapped)) : nullptr;
}

void PartWriter::add_in_file(ProtobufMessage message, const std::shared_ptr<const platform::MappedFile>& file,
                             std::uint64_t offset, std::size_t size) {
  auto known = std::ranges::find(part_.weights, file, &ExternalWeights::file);
  if (known == part_.weights.end()) {
    part_.weights.push_back({"weights-" + std::to_string(part_.weights.size()) + ".bin", file, false});
    known = std::prev(part_.weights.end());
  }
  add_place(message, known->location, offset, size);
  graph_.add_message(GraphProto::kInitializer, message);
}

void PartWriter::add_initializer(const ValueView& value) {
  if (may_refer_ && add_by_reference(value)) return;
  HostTensor read = tensor(initializer(host_, value));
  read.message.add_bytes(TensorProto::kName, value.name);
  if (may_refer_ && model_file_ != nullptr && read.data.size() >= kSmallBytes) {
    if (const auto offset = model_file_->offset_of(value.name, read.data)) {
      add_in_file(std::move(read.message), model_file_->file(), *offset, read.data.size());
      return;
    }
  }
  in_memory_.push_back(std::move(read));
}

void PartWriter::add_input(const std::string& name, const TypeView& type) {
  graph_.add_message(GraphProto::kInput, port(name, type));
  part_.inputs.push_back(name);
}

void PartWriter::add_output(const std::string& name, const TypeView& type) {
  graph_.add_message(GraphProto::kOutput, port(name, type));
  part_.outputs.push_back(name);
}

void PartWriter::put_beside() {
  std::size_t all = 0;
  for (const HostTensor& tensor : in_memory_)
    all += tensor.data.size();
  if (place_ == WeightsPlace::kInModel || all <= kInlineBytesMax) return;
  std::vector<HostTensor> small;
  for (HostTensor& tensor : in_memory_) {
    if (tensor.data.size() < kSmallBytes) {
      small.push_back(std::move(tensor));
      continue;
    }
    add_place(tensor.message, kTemporary, add_temporary(tensor.data), tensor.data.size());
    graph_.add_message(GraphProto::kInitializer, tensor.message);
  }
  in_memory_ = std::move(small);
}

void PartWriter::close_temporary() {
  if (!temporary_) return;
  // The folder is destroyed after the mapping.
  struct Owned {
    platform::TemporaryFolder folder;
    std::optional<platform::MappedFile> file;
  };
  const auto owned = std::make_shared<Owned>(Owned{std::move(temporary_->folder), std::nullopt});
  require([&]() -> core::Status {
    LB_RETURN_IF_ERROR(temporary_->file.commit_unsynced());
    LB_ASSIGN_OR_RETURN(owned->file, platform::MappedFile::open(owned->folder.path() / kTemporary));
    return {};
  }());
  part_.weights.push_back({kTemporary, {owned, &*owned->file}, true});
}

OnnxPart smallest_part() {
  constexpr std::int64_t kOldIr = 8;
  constexpr std::int64_t kOldOpset = 14;
  constexpr std::int32_t kOnnxF32 = 1;
  const TypeView one{true, LB_F32, kOnnxF32, true, {1}, {""}};
  const std::string x = "x";
  const std::string y = "y";
  ProtobufMessage graph;
  graph.add_message(GraphProto::kNode, graph::node_message("Relu", {&x, 1}, {&y, 1}, y));
  graph.add_bytes(GraphProto::kName, "smallest");
  graph.add_message(GraphProto::kInput, port(x, one));
  graph.add_message(GraphProto::kOutput, port(y, one));
  return {graph::model_head(kOldIr, kOldOpset, "", graph.bytes().size()) + graph.bytes(), {}, {x}, {y}};
}

OnnxPart PartWriter::finish(std::int64_t ir_version, std::int64_t opset) && {
  put_beside();
  close_temporary();
  graph_.add_bytes(GraphProto::kName, "part");
  // The bytes before each initializer's data.
  std::vector<std::string> heads;
  std::size_t graph_size = graph_.bytes().size();
  for (HostTensor& tensor : in_memory_) {
    tensor.message.add_head(TensorProto::kRawData, tensor.data.size());
    ProtobufMessage head;
    head.add_head(GraphProto::kInitializer, tensor.message.bytes().size() + tensor.data.size());
    heads.push_back(head.bytes() + tensor.message.bytes());
    graph_size += heads.back().size() + tensor.data.size();
  }
  const std::string head = graph::model_head(ir_version, opset, "", graph_size);
  part_.model.reserve(head.size() + graph_size);
  part_.model += head;
  part_.model += graph_.bytes();
  for (std::size_t i = 0; i < heads.size(); ++i) {
    part_.model += heads[i];
    part_.model += in_memory_[i].data;
  }
  return std::move(part_);
}

}  // namespace latebind::provider
