#include "core/model/onnx_form.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "core/graph/onnx_writer.h"

namespace latebind::core {
namespace {

ModelForm written(const ModelGraph& model) {
  ModelForm form;
  form.format = ModelFormat::kOnnx;
  std::vector<std::string> locations;
  for (std::size_t i = 0; i < model.sources.size(); ++i) {
    const std::string& name = model.sources[i].name;
    form.external.push_back(ExternalData::of_part(name, model.graph->weights()[i]));
    locations.push_back(name);
  }
  form.graph = SharedBytes::from_string(graph::write_onnx(*model.graph, locations));
  return form;
}

}  // namespace

Result<ModelForm> onnx_form(const Model& model) {
  if (const ModelForm* form = model.find(ModelFormat::kOnnx)) return *form;
  if (model.graph() != nullptr) return written(*model.graph());
  std::string formats;
  for (const ModelForm& form : model.forms())
    formats += fmt::format("{}{}", formats.empty() ? "" : ", ", word_of(form.format));
  return Status(StatusCode::kUnsupported, fmt::format("{} is needed, but the model {} has only {}",
                                                      word_of(ModelFormat::kOnnx), model.name(), formats));
}

}  // namespace latebind::core
