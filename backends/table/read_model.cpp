#include "backends/table/read_model.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "backends/table/read_graph.h"
#include "core/platform/files/file_identity.h"
#include "core/platform/files/folders.h"

namespace latebind::table {
namespace {

using core::ExternalData;
using core::ModelForm;
using core::ModelFormat;
using core::Result;
using core::Status;
using core::StatusCode;
using plugin::optional_text_of;
using plugin::read_list;
using plugin::text_of;

core::SharedBytes memory_of(const std::shared_ptr<const void>& owner, const void* data, std::uint64_t size) {
  return {owner, {static_cast<const std::byte*>(data), static_cast<std::size_t>(size)}};
}

Result<ModelForm> read_onnx(const lbb_model& given, const std::shared_ptr<const void>& owner) {
  ModelForm form;
  form.format = ModelFormat::kOnnx;
  form.graph = memory_of(owner, given.onnx, given.onnx_size);
  LB_RETURN_IF_ERROR(read_list("a piece", given.pieces, given.piece_count, [&](const lbb_piece& piece) -> Status {
    ExternalData external;
    LB_ASSIGN_OR_RETURN(external.location, text_of("the location of a piece", piece.location));
    LB_ASSIGN_OR_RETURN(const std::string file, optional_text_of("the file of a piece", piece.file));
    external.data = memory_of(owner, piece.data, piece.size);
    if (!file.empty()) {
      external.file = platform::path_from_utf8(file);
      external.offset = piece.file_offset;
      LB_ASSIGN_OR_RETURN(external.identity, platform::file_identity(external.file));
    }
    form.external.push_back(std::move(external));
    return {};
  }));
  return form;
}

}  // namespace

Result<core::Model> read_model(const lbb_host& host, const lbb_model* model, const std::shared_ptr<const void>& owner) {
  if (model == nullptr || !plugin::has_size(*model)) return Status(StatusCode::kInvalidArgument, "there is no model");
  const lbb_model given = plugin::read_struct(*model);
  LB_ASSIGN_OR_RETURN(std::string name, text_of("the name of the model", given.name));
  if (given.graph != nullptr) {
    LB_ASSIGN_OR_RETURN(core::ModelGraph graph, read_graph(host, given.graph, owner));
    return core::Model::from_graph(std::move(name), std::move(graph));
  }
  std::vector<ModelForm> forms;
  LB_ASSIGN_OR_RETURN(const std::string onnx_file, optional_text_of("the file of the model", given.onnx_file));
  LB_ASSIGN_OR_RETURN(const std::string ir_file, optional_text_of("the file of the model", given.ir_file));
  if (!onnx_file.empty()) forms.push_back({.format = ModelFormat::kOnnx, .file = platform::path_from_utf8(onnx_file)});
  if (given.onnx != nullptr) {
    LB_ASSIGN_OR_RETURN(ModelForm form, read_onnx(given, owner));
    forms.push_back(std::move(form));
  }
  if (!ir_file.empty())
    forms.push_back({.format = ModelFormat::kOpenvinoIr, .file = platform::path_from_utf8(ir_file)});
  if (given.ir != nullptr) {
    forms.push_back({.format = ModelFormat::kOpenvinoIr,
                     .graph = memory_of(owner, given.ir, given.ir_size),
                     .weights = memory_of(owner, given.ir_weights, given.ir_weights_size)});
  }
  if (forms.empty()) return Status(StatusCode::kInvalidArgument, fmt::format("the model {} has no form", name));
  return core::Model::from_forms(std::move(name), std::move(forms));
}

Result<core::CompileOptions> read_options(const lbb_options* options) {
  if (options == nullptr || !plugin::has_size(*options))
    return Status(StatusCode::kInvalidArgument, "there are no options");
  const lbb_options given = plugin::read_struct(*options);
  core::CompileOptions read;
  if (given.precision < LBB_PRECISION_F32 || given.precision > LBB_PRECISION_FAST)
    return Status(StatusCode::kUnsupported, fmt::format("the precision {} is not known here", given.precision));
  read.precision = static_cast<core::Precision>(given.precision);
  read.hint = given.throughput != 0 ? core::PerformanceHint::kThroughput : core::PerformanceHint::kLatency;
  read.threads = given.threads;
  read.requests = given.requests;
  if (given.host_nodes < 0 || given.host_nodes > static_cast<std::int32_t>(core::HostNodes::kAny))
    return Status(StatusCode::kUnsupported, fmt::format("host_nodes is {}, which is not known here", given.host_nodes));
  read.host_nodes = static_cast<core::HostNodes>(given.host_nodes);
  read.shapes_recur = given.shapes_recur != 0;
  read.emulate = given.emulate != 0;
  LB_RETURN_IF_ERROR(
      read_list("a shape", given.input_shapes, given.input_shape_count, [&](const lbb_shape& shape) -> Status {
        LB_ASSIGN_OR_RETURN(const core::Shape made, plugin::shape_of("a shape", shape.dims, shape.rank));
        read.input_shapes.push_back(made);
        return {};
      }));
  LB_RETURN_IF_ERROR(
      read_list("a property", given.properties, given.property_count, [&](const lbb_pair& pair) -> Status {
        LB_ASSIGN_OR_RETURN(std::string key, text_of("the key of a property", pair.key));
        LB_ASSIGN_OR_RETURN(read.properties[std::move(key)], text_of("a property", pair.text, plugin::kTextMax));
        return {};
      }));
  return read;
}

Result<core::BlobLabel> read_label(const lbb_blob_label* label, std::string_view backend) {
  if (label == nullptr || !plugin::has_size(*label))
    return Status(StatusCode::kInvalidArgument, "the blob has no label");
  const lbb_blob_label given = plugin::read_struct(*label);
  core::BlobLabel read;
  read.backend = std::string(backend);
  LB_ASSIGN_OR_RETURN(read.device, text_of("the device of a blob", given.device));
  LB_ASSIGN_OR_RETURN(read.runtime_version, text_of("the version of a blob", given.runtime_version));
  LB_ASSIGN_OR_RETURN(read.compatibility,
                      optional_text_of("the compatibility of a blob", given.compatibility, plugin::kTextMax));
  if (given.precision < LBB_PRECISION_F32 || given.precision > LBB_PRECISION_INT8)
    return Status(StatusCode::kIncompatibleBlob, "the blob computes in a precision that is not known here");
  read.precision = static_cast<core::Precision>(given.precision);
  return read;
}

}  // namespace latebind::table
