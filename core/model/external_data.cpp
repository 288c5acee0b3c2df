#include "core/model/external_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/platform/files/file_identity.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

// The error for a model whose external files cannot all be determined.
Status hides_data() {
  return Status(StatusCode::kInvalidModel,
                fmt::format("the ONNX model is damaged, nested too deeply, or has data in more than {} files",
                            graph::kExternalLocationsMax));
}

// Vendors take an external file of this name, after removing a part of its path, for an address in their own memory,
// given as the offset. A model with it would make them read any memory.
constexpr std::string_view kMemoryLocation = "_ORT_MEM_ADDR_";

}  // namespace

Status check_locations(const graph::ExternalLocations& named) {
  if (!named.complete) return hides_data();
  const bool is_address = std::ranges::any_of(
      named.names, [](const std::string& name) { return name.find(kMemoryLocation) != std::string::npos; });
  if (!is_address) return {};
  return {StatusCode::kInvalidModel, "the ONNX model refers to an address in memory for its data"};
}

Status check_external(const ModelForm& form) {
  if (form.format != ModelFormat::kOnnx || !form.file.empty()) return {};
  const graph::ExternalLocations named = graph::external_data_locations(form.graph.bytes);
  LB_RETURN_IF_ERROR(check_locations(named));
  for (const std::string& location : named.names) {
    if (std::ranges::find(form.external, location, &ExternalData::location) == form.external.end()) {
      return Status(StatusCode::kInvalidModel,
                    fmt::format("the ONNX model has data in '{}', which was not given", printable(location)));
    }
  }
  return {};
}

Result<std::optional<ModelForm>> form_with_linked_data(const std::filesystem::path& file, const FilePart& part,
                                                       const std::set<std::string>& locations) {
  std::optional<ModelForm> form;
  if (locations.empty()) return form;
  const auto folder = platform::anchored(file).parent_path();
  std::error_code error;
  const auto real_folder = std::filesystem::canonical(folder, error);
  if (error) return form;
  const auto folder_of_real = std::filesystem::canonical(file, error).parent_path();
  if (error) return form;
  bool is_outside = false;
  for (const std::string& location : locations) {
    const auto name = platform::path_from_utf8(location);
    if (name.empty() || name.has_root_path() || std::ranges::find(name, "..") != name.end()) return form;
    const auto real = std::filesystem::canonical(folder / name, error);
    if (error) return form;
    is_outside = is_outside || !platform::is_within(real, real_folder) || !platform::is_within(real, folder_of_real);
  }
  if (!is_outside) return form;
  form.emplace();
  form->graph = part.bytes;
  for (const std::string& location : locations) {
    LB_ASSIGN_OR_RETURN(auto data, ExternalData::in_file(location, folder / platform::path_from_utf8(location)));
    data.may_open_file = true;
    form->external.push_back(std::move(data));
  }
  return form;
}

ExternalData ExternalData::of_part(std::string location, FilePart part) {
  part.fill();
  return ExternalData{.location = std::move(location),
                      .data = std::move(part.bytes),
                      .file = std::move(part.where.file),
                      .identity = part.identity,
                      .offset = part.where.offset};
}

Result<ExternalData> ExternalData::in_file(std::string location, const std::filesystem::path& file) {
  LB_ASSIGN_OR_RETURN(FilePart part, FilePart::open(platform::anchored(file)));
  ExternalData external = of_part(std::move(location), std::move(part));
  external.may_open_file = false;
  return external;
}

bool ExternalData::is_file_unchanged() const {
  if (file.empty()) return true;
  const auto now = platform::file_identity(file);
  return now.ok() && *now == identity;
}

}  // namespace latebind::core
