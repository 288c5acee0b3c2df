#include "core/onnx_form.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "core/graph/onnx_writer.h"

namespace latebind::core {
namespace {

ModelForm written(const ModelGraph& model) {
  const FilePart& weights = model.graph->weights();
  ExternalData external{.location = model.weights_name, .data = weights.bytes};
  if (model.may_open_weights) {
    external.file = weights.where.file;
    external.identity = weights.identity;
  }
  ModelForm form;
  form.format = ModelFormat::kOnnx;
  form.graph = SharedBytes::from_string(graph::write_onnx(*model.graph, model.weights_name));
  form.external.push_back(std::move(external));
  return form;
}

}  // namespace

Result<ModelForm> onnx_form(const Model& model) {
  if (const ModelForm* form = model.find(ModelFormat::kOnnx)) return *form;
  if (model.graph() != nullptr) return written(*model.graph());
  std::string formats;
  for (const ModelForm& form : model.forms())
    formats += fmt::format("{}{}", formats.empty() ? "" : ", ", word_of(form.format));
  return Status(StatusCode::kUnsupported, fmt::format("{} is needed; the model {} is there as {} only",
                                                      word_of(ModelFormat::kOnnx), model.name(), formats));
}

}  // namespace latebind::core
