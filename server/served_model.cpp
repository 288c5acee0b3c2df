#include "server/served_model.h"

#include <algorithm>

namespace latebind::server {

const embedding::Embedder* ServedModel::encoder_of(std::span<const std::string> outputs) const {
  for (const auto& encoder : encoders) {
    if (std::ranges::all_of(outputs, [&](const std::string& output) { return encoder->gives(output); }))
      return encoder.get();
  }
  return nullptr;
}

const embedding::Embedder* ServedModel::encoder_of(std::string_view output) const {
  const auto found = std::ranges::find_if(encoders, [&](const auto& encoder) { return encoder->gives(output); });
  return found != encoders.end() ? found->get() : nullptr;
}

std::vector<std::string_view> ServedModel::outputs() const {
  std::vector<std::string_view> names;
  for (const auto& encoder : encoders) {
    for (const embedding::BoundOutput& bound : encoder->documents().outputs())
      names.push_back(bound.output->kind().name);
  }
  return names;
}

}  // namespace latebind::server
