#include "embedding/weights/model_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/text/quote.h"

namespace latebind::embedding {

using core::Result;
using core::Status;
using core::StatusCode;

std::optional<std::string_view> ModelWeights::File::own_name(std::string_view name) const {
  if (!name.starts_with(place)) return std::nullopt;
  return name.substr(place.size());
}

const ModelWeights::File* ModelWeights::file_of(std::string_view name) const {
  const File* nearest = nullptr;
  for (const File& file : files_) {
    const auto own = file.own_name(name);
    if (!own) continue;
    if (file.tensors.contains(*own)) return &file;
    if (nearest == nullptr || file.place.size() >= nearest->place.size()) nearest = &file;
  }
  return nearest;
}

Status ModelWeights::add(TensorFile file, std::string place) {
  for (const std::string& name : file.names()) {
    if (!contains(place + name)) continue;
    return {StatusCode::kInvalidModel,
            fmt::format("{}: tensor '{}' is in another file of the model, too", file.name(), core::printable(name))};
  }
  files_.push_back({std::move(file), std::move(place)});
  return {};
}

bool ModelWeights::contains(std::string_view name) const {
  const File* const file = file_of(name);
  return file != nullptr && file->tensors.contains(*file->own_name(name));
}

Result<graph::Weight> ModelWeights::find(std::string_view name, std::span<const std::int64_t> shape) const {
  const File* const file = file_of(name);
  if (file == nullptr) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("no file of the model could have the tensor '{}'", core::printable(name)));
  }
  LB_ASSIGN_OR_RETURN(const StoredTensor tensor, file->tensors.locate(*file->own_name(name), shape));
  LB_ASSIGN_OR_RETURN(const core::Shape dims, core::Shape::make(tensor.shape));
  auto position = static_cast<std::size_t>(file - files_.data());
  if (tensor.copied) {
    const auto with_copies = [](const File& one) { return !one.tensors.copies().bytes.bytes.empty(); };
    position = files_.size() + static_cast<std::size_t>(std::count_if(files_.data(), file, with_copies));
  }
  return graph::Weight{
      .name = std::string(name), .type = tensor.type, .shape = dims, .offset = tensor.offset, .file = position};
}

std::vector<core::FilePart> ModelWeights::parts() const {
  std::vector<core::FilePart> parts;
  for (const File& file : files_)
    parts.push_back(file.tensors.part());
  for (const File& file : files_) {
    if (!file.tensors.copies().bytes.bytes.empty()) parts.push_back(file.tensors.copies());
  }
  return parts;
}

}  // namespace latebind::embedding
