#include "core/backend/onnx_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/backend/questions.h"
#include "core/onnx/known_errors.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

constexpr std::size_t kNamedMax = 3;
constexpr std::size_t kFilesMax = 1024;

// Whether it is a relative path that does not lead out of its folder.
bool is_within(const std::filesystem::path& name) {
  return !name.empty() && name.is_relative() && std::ranges::find(name, std::filesystem::path("..")) == name.end();
}

}  // namespace

Result<OnnxBounds> onnx_input_bounds(const Model& model, Backend& backend, const Device& device) {
  OnnxBounds bounds;
  const ModelForm* form = model.find(ModelFormat::kOnnx);
  if (form == nullptr || model.graph() != nullptr) return bounds;
  LB_ASSIGN_OR_RETURN(const std::string table, known_errors_of(backend));
  if (table.empty()) return bounds;
  LB_ASSIGN_OR_RETURN(const std::string version, backend.runtime_version());
  const std::vector<std::string> runtimes{fmt::format("{} {}", backend.name(), version)};
  LB_ASSIGN_OR_RETURN(const auto errors, onnx::KnownErrors::read(table, "the table of known errors", runtimes));
  if (errors.empty()) return bounds;
  LB_ASSIGN_OR_RETURN(const SharedBytes content, form->open());
  std::map<std::string, std::optional<platform::MappedFile>, std::less<>> beside;
  bool all_opened = true;
  const auto external = [&](std::string_view location) -> std::span<const std::byte> {
    if (form->file.empty()) {
      const auto found = std::ranges::find(form->external, location, &ExternalData::location);
      return found == form->external.end() ? std::span<const std::byte>() : found->data.bytes;
    }
    const auto known = beside.find(location);
    if (known != beside.end()) return known->second ? known->second->bytes() : std::span<const std::byte>();
    std::optional<platform::MappedFile>& file = beside[std::string(location)];
    const auto name = platform::path_from_utf8(std::string(location));
    // Data in other places, or in more files, is not read.
    if (beside.size() > kFilesMax || !is_within(name)) return {};
    if (auto opened = platform::MappedFile::open(form->file.parent_path() / name); opened.ok())
      file = *std::move(opened);
    all_opened = all_opened && file;
    return file ? file->bytes() : std::span<const std::byte>();
  };
  LB_ASSIGN_OR_RETURN(const auto network, onnx::read_onnx_network(content.bytes, model.name(), external));
  // If a file cannot be opened, the vendor reports it, by name.
  if (!all_opened) return bounds;
  auto report = onnx::find_known_errors(network, errors);
  if (!report.nodes.empty()) {
    std::string named;
    const std::size_t count = std::min(kNamedMax, report.nodes.size());
    for (std::size_t i = 0; i < count; ++i) {
      const auto& [place, why] = report.nodes[i];
      named += (named.empty() ? "" : "; ") + printable(network.network.nodes[place].text()) + " " + why;
    }
    const std::size_t more = report.nodes.size() - count;
    return Status(StatusCode::kUnsupported,
                  fmt::format("{} does not compute {} as ONNX defines it: {}{}", device.id(), model.name(), named,
                              more > 0 ? fmt::format("; and {} more nodes", more) : ""));
  }
  bounds.inputs = network.network.inputs.size();
  bounds.bounds = std::move(report.bounds);
  return bounds;
}

}  // namespace latebind::core
