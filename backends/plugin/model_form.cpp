#include "backends/plugin/model_form.h"

#include <fmt/format.h>

#include <utility>

#include "core/backend/device_traits.h"
#include "core/model/onnx_form.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"

namespace latebind::plugin {

using core::ModelForm;
using core::ModelFormat;
using core::Result;
using core::Status;
using core::StatusCode;

Result<std::unique_ptr<const GivenModel>> GivenModel::make(const core::Model& model, std::uint32_t reads) {
  std::unique_ptr<GivenModel> given(new GivenModel());
  const auto bytes = std::make_shared<Bytes>();
  given->bytes_ = bytes;
  given->name_ = model.name();
  given->given_.name = given->name_.c_str();
  if ((reads & LBB_READS_GRAPH) != 0 && model.graph() != nullptr) {
    bytes->graph = model.graph()->graph;
    given->graph_ = std::make_unique<const GraphForm>(*model.graph());
    given->given_.graph = given->graph_->get();
    return std::unique_ptr<const GivenModel>(std::move(given));
  }
  const ModelForm* const ir = model.find(ModelFormat::kOpenvinoIr);
  if ((reads & LBB_READS_IR) != 0 && ir != nullptr) given->give(bytes->forms.emplace_back(*ir));
  const bool has_onnx = model.find(ModelFormat::kOnnx) != nullptr || model.graph() != nullptr;
  if ((reads & LBB_READS_ONNX) != 0 && has_onnx) {
    LB_ASSIGN_OR_RETURN(ModelForm onnx, core::onnx_form(model));
    given->give(bytes->forms.emplace_back(std::move(onnx)));
  }
  if (!bytes->forms.empty()) return std::unique_ptr<const GivenModel>(std::move(given));
  if (reads == LBB_READS_GRAPH) {
    return Status(StatusCode::kUnsupported, fmt::format("{}, and {} is none of these", core::DeviceTraits::kNeedsGraph,
                                                        core::quoted(model.name())));
  }
  return Status(StatusCode::kUnsupported,
                fmt::format("the device reads {}, and {} is neither available as that nor can be written so",
                            (reads & LBB_READS_ONNX) != 0 ? "ONNX" : "OpenVINO IR", core::quoted(model.name())));
}

void GivenModel::give(const ModelForm& form) {
  const bool is_onnx = form.format == ModelFormat::kOnnx;
  if (!form.file.empty()) {
    const char* const file = files_.emplace_back(platform::path_to_utf8(form.file)).c_str();
    (is_onnx ? given_.onnx_file : given_.ir_file) = file;
    return;
  }
  if (!is_onnx) {
    given_.ir = form.graph.bytes.data();
    given_.ir_size = form.graph.bytes.size();
    given_.ir_weights = form.weights.bytes.data();
    given_.ir_weights_size = form.weights.bytes.size();
    return;
  }
  given_.onnx = form.graph.bytes.data();
  given_.onnx_size = form.graph.bytes.size();
  for (const core::ExternalData& external : form.external) {
    lbb_piece& piece = pieces_.emplace_back(sized<lbb_piece>());
    piece.location = external.location.c_str();
    piece.data = external.data.bytes.data();
    piece.size = external.data.bytes.size();
    if (!external.file.empty() && external.may_open_file && external.is_file_unchanged()) {
      piece.file = files_.emplace_back(platform::path_to_utf8(external.file)).c_str();
      piece.file_offset = external.offset;
    }
    piece_list_.push_back(&piece);
  }
  given_.pieces = piece_list_.data();
  given_.piece_count = piece_list_.size();
}

GivenOptions::GivenOptions(const core::CompileOptions& options) {
  given_.precision = static_cast<std::int32_t>(options.precision);
  given_.throughput = options.hint == core::PerformanceHint::kThroughput ? 1 : 0;
  given_.threads = options.threads;
  given_.requests = options.requests;
  given_.host_nodes = static_cast<std::int32_t>(options.host_nodes);
  given_.shapes_recur = options.shapes_recur ? 1 : 0;
  given_.emulate = options.emulate ? 1 : 0;
  for (const core::Shape& shape : options.input_shapes) {
    lbb_shape& made = shapes_.emplace_back(sized<lbb_shape>());
    made.dims = shape.dims().data();
    made.rank = shape.rank();
    shape_list_.push_back(&made);
  }
  for (const auto& [key, text] : options.properties) {
    lbb_pair& made = properties_.emplace_back(sized<lbb_pair>());
    made.key = key.c_str();
    made.text = text.c_str();
    property_list_.push_back(&made);
  }
  given_.input_shapes = shape_list_.data();
  given_.input_shape_count = shape_list_.size();
  given_.properties = property_list_.data();
  given_.property_count = property_list_.size();
}

}  // namespace latebind::plugin
