#include "backends/onnxruntime/readable_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/onnxruntime/session_options.h"
#include "core/graph/onnx_structure.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"

namespace latebind::onnxruntime {

using core::ModelForm;
using core::Result;
using core::Status;
using core::StatusCode;

namespace {

// The folder that contains every file of external data under the model's name for it, without a symbolic link on the
// way, which the vendor refuses. Empty if there is no such folder, or if a file has been replaced since it was opened.
std::filesystem::path folder_of_external(const ModelForm& form) {
  std::filesystem::path folder;
  for (const core::ExternalData& external : form.external) {
    std::error_code error;
    if (external.file.empty() || external.offset != 0) return {};
    const auto real = std::filesystem::canonical(external.file, error);
    const auto location = platform::path_from_utf8(external.location);
    if (error || location.empty() || location.is_absolute()) return {};
    auto base = real;
    for (auto part = location.begin(); part != location.end(); ++part)
      base = base.parent_path();
    if (base / location != real || !external.is_file_unchanged()) return {};
    if (!folder.empty() && folder != base) return {};
    folder = base;
  }
  return folder;
}

// The place in a file of data that a model has in a part of that file. Only that part belongs to the model.
Result<graph::ExternalPlace> place_in_file(graph::ExternalPlace place, const core::ExternalData& external,
                                           const std::string& file) {
  const std::uint64_t size = external.data.bytes.size();
  const bool is_to_the_end = place.length == graph::ExternalPlace::kToTheEnd;
  if (place.offset > size || (!is_to_the_end && place.length > size - place.offset)) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("the ONNX model has data beyond the end of {}", core::quoted(place.location)));
  }
  return graph::ExternalPlace{.location = file,
                              .offset = external.offset + place.offset,
                              .length = is_to_the_end ? size - place.offset : place.length};
}

}  // namespace

Result<ReadableForm> make_readable(ModelForm form) {
  if (form.external.empty()) return ReadableForm{std::move(form), {}};
  auto folder = folder_of_external(form);
  if (!folder.empty()) return ReadableForm{std::move(form), std::move(folder)};
  std::vector<std::filesystem::path> files;
  for (const core::ExternalData& external : form.external) {
    std::error_code error;
    const bool may_open = !external.file.empty() && external.may_open_file && external.is_file_unchanged();
    if (may_open) files.push_back(std::filesystem::canonical(external.file, error));
    if (!may_open || error) return ReadableForm{std::move(form), {}};
    if (files.size() == 1) folder = files.front().parent_path();
    while (!platform::is_within(files.back(), folder)) {
      if (folder == folder.parent_path()) return ReadableForm{std::move(form), {}};  // on another drive
      folder = folder.parent_path();
    }
  }
  const auto real_place = [&](graph::ExternalPlace place) -> Result<graph::ExternalPlace> {
    const auto found = std::ranges::find(form.external, place.location, &core::ExternalData::location);
    if (found == form.external.end()) return place;
    const auto& file = files[static_cast<std::size_t>(found - form.external.begin())];
    return place_in_file(std::move(place), *found,
                         platform::path_to_utf8(file.lexically_relative(folder).generic_string()));
  };
  LB_ASSIGN_OR_RETURN(auto moved, graph::with_external_places(form.graph.bytes, real_place));
  form.graph = core::SharedBytes::from_string(std::move(moved));
  return ReadableForm{std::move(form), std::move(folder)};
}

std::filesystem::path from_here(const std::filesystem::path& place) {
  std::error_code error;
  auto relative = std::filesystem::proximate(place, error);
  return error ? place : relative;
}

Status check_external_data(const std::string& model, const ReadableForm& readable) {
  if (readable.folder.empty()) return {};
  for (const core::ExternalData& external : readable.form.external) {
    if (external.is_file_unchanged()) continue;
    return Status(StatusCode::kIo, fmt::format("{} was replaced while the model {} was being loaded; open it again",
                                               platform::path_to_utf8(external.file), model));
  }
  return {};
}

Status add_external_data(const Library& library, const ReadableForm& readable, abi::SessionOptions* options,
                         Paths paths_are) {
  const ModelForm& form = readable.form;
  if (form.external.empty()) return {};
  if (!readable.folder.empty()) {
    const auto folder = paths_are == Paths::kFromHere ? from_here(readable.folder) : readable.folder;
    return add_entry(library, options, "session.model_external_initializers_file_folder_path",
                     platform::path_to_utf8(folder));
  }
  std::vector<std::filesystem::path> paths;
  std::vector<const abi::PathChar*> names;
  std::vector<char*> buffers;
  std::vector<std::size_t> sizes;
  paths.reserve(form.external.size());
  for (const core::ExternalData& external : form.external) {
    names.push_back(paths.emplace_back(platform::path_from_utf8(external.location)).c_str());
    // The vendor only reads the data, in spite of the type.
    buffers.push_back(const_cast<char*>(reinterpret_cast<const char*>(external.data.bytes.data())));
    sizes.push_back(external.data.bytes.size());
  }
  LB_ORT_RETURN_IF_ERROR(library,
                         library.api.AddExternalInitializersFromFilesInMemory(options, names.data(), buffers.data(),
                                                                              sizes.data(), names.size()),
                         "ONNX Runtime refuses the model's external data");
  return {};
}

}  // namespace latebind::onnxruntime
