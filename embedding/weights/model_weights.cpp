#include "embedding/weights/model_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/text/quote.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

Status no_file_has(std::string_view tensor) {
  return {StatusCode::kInvalidModel,
          fmt::format("no file of the model could have the tensor '{}'", core::printable(tensor))};
}

}  // namespace

std::optional<std::string_view> ModelWeights::File::own_name(std::string_view name) const {
  if (!name.starts_with(place)) return std::nullopt;
  return name.substr(place.size());
}

const ModelWeights::File* ModelWeights::file_of(std::string_view name) const {
  for (std::size_t i = replacing_.size(); i > 0; --i) {
    if (replacing_[i - 1].tensors.contains(name)) return &replacing_[i - 1];
  }
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

std::string ModelWeights::stored_name(std::string_view name) const {
  constexpr std::string_view kWeight = ".weight";
  const auto has = [&](std::string_view one) {
    const File* const file = file_of(one);
    return file != nullptr && file->tensors.contains(*file->own_name(one));
  };
  if (!name.ends_with(kWeight) || has(name)) return std::string(name);
  std::string original =
      fmt::format("{}.parametrizations.weight.original", name.substr(0, name.size() - kWeight.size()));
  return has(original) ? original : std::string(name);
}

bool ModelWeights::contains(std::string_view name) const {
  return shape_of(name).has_value();
}

std::optional<std::vector<std::int64_t>> ModelWeights::shape_of(std::string_view name) const {
  const std::string stored = stored_name(name);
  const File* const file = file_of(stored);
  return file != nullptr ? file->tensors.shape_of(*file->own_name(stored)) : std::nullopt;
}

std::vector<std::string> ModelWeights::names() const {
  std::vector<std::string> names;
  for (const File& file : files_) {
    for (const std::string& name : file.tensors.names())
      names.push_back(file.place + name);
  }
  for (const File& file : replacing_) {
    for (std::string& name : file.tensors.names()) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  }
  return names;
}

Result<StoredTensor> ModelWeights::find_stored(std::string_view wanted, std::span<const std::int64_t> shape) const {
  const std::string name = stored_name(wanted);
  const File* const file = file_of(name);
  if (file == nullptr) return no_file_has(name);
  return file->tensors.find(*file->own_name(name), shape);
}

Result<graph::Weight> ModelWeights::find(std::string_view wanted, std::span<const std::int64_t> shape) const {
  const std::string name = stored_name(wanted);
  const File* const file = file_of(name);
  if (file == nullptr) return no_file_has(name);
  LB_ASSIGN_OR_RETURN(const StoredTensor tensor, file->tensors.locate(*file->own_name(name), shape));
  LB_ASSIGN_OR_RETURN(const core::Shape dims, core::Shape::make(tensor.shape));
  const auto with_copies = [](const File& one) { return !one.tensors.copies().bytes.bytes.empty(); };
  const auto copies_before = [&](const File* end) {
    return static_cast<std::size_t>(std::count_if(files_.data(), end, with_copies));
  };
  const bool is_replacing =
      !replacing_.empty() && file >= replacing_.data() && file < replacing_.data() + replacing_.size();
  std::size_t position = 0;
  if (is_replacing) {
    position = files_.size() + copies_before(files_.data() + files_.size()) +
               static_cast<std::size_t>(file - replacing_.data());
  } else if (tensor.copied) {
    position = files_.size() + copies_before(file);
  } else {
    position = static_cast<std::size_t>(file - files_.data());
  }
  return graph::Weight{.name = name, .type = tensor.type, .shape = dims, .offset = tensor.offset, .file = position};
}

std::vector<core::FilePart> ModelWeights::parts() const {
  std::vector<core::FilePart> parts;
  for (const File& file : files_)
    parts.push_back(file.tensors.part());
  for (const File& file : files_) {
    if (!file.tensors.copies().bytes.bytes.empty()) parts.push_back(file.tensors.copies());
  }
  for (const File& file : replacing_)
    parts.push_back(file.tensors.part());
  return parts;
}

}  // namespace latebind::embedding
