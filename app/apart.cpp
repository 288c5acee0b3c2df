#include "app/apart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "core/graph/onnx_structure.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"

namespace latebind::app {
namespace {

using core::Status;
using core::StatusCode;
using std::filesystem::path;

// How many folder levels of a model are searched for links.
constexpr int kLinkDepthMax = 2;

path resolved(const path& place) {
  std::error_code error;
  auto absolute = std::filesystem::absolute(place, error);
  auto canonical = std::filesystem::weakly_canonical(absolute, error);
  return error ? absolute.lexically_normal() : canonical;
}

// The hub's cache consists of links, so `output` may be the target of one.
bool is_linked_from(const path& folder, const path& output) {
  std::error_code error;
  if (!std::filesystem::exists(output, error)) return false;
  std::filesystem::recursive_directory_iterator entry(folder, error);
  for (const std::filesystem::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    if (entry.depth() >= kLinkDepthMax) entry.disable_recursion_pending();
    std::error_code ignored;
    if (entry->is_symlink(ignored) && is_same_file(entry->path(), output)) return true;
  }
  return false;
}

bool is_in_folder(const path& folder, const path& output) {
  const path whole = resolved(folder);
  const path full = platform::without_slash(output);
  std::error_code error;
  const path entry = resolved(std::filesystem::absolute(full, error).parent_path()) / full.filename();
  return platform::is_within(resolved(full), whole) || platform::is_within(entry, whole) ||
         is_linked_from(folder, full);
}

// Whether the ONNX file `model` may keep external data in `output`. If the model names external data, this is true for
// every file below the model's folder, except the kinds of files that Latebind writes.
bool may_keep_data_in(const path& model, const path& output) {
  constexpr std::array<std::string_view, 4> kOurs{".lbundle", ".pte", ".blob", ".npy"};
  if (std::ranges::find(kOurs, output.extension().string()) != kOurs.end()) return false;
  if (!platform::is_within(resolved(output), resolved(model).parent_path())) return false;
  const auto mapped = platform::MappedFile::open(model);
  return mapped.ok() && graph::may_name_external_data(mapped->bytes());
}

// Names the part of the model that `output` is, or returns "".
std::string_view part_of(const path& model, const path& output) {
  std::error_code error;
  if (is_same_file(model, output)) return "itself";
  if (std::filesystem::is_directory(model, error)) return is_in_folder(model, output) ? "'s own folder" : "";
  if (!std::filesystem::is_regular_file(output, error)) return "";
  const bool is_onnx = model.extension() == ".onnx";
  const bool is_data =
      is_onnx ? may_keep_data_in(model, output) : is_same_file(path(model).replace_extension(".bin"), output);
  return is_data ? "'s weights" : "";
}

Status refusal(const NamedPlace& output, const NamedPlace& read, std::string_view part) {
  return {StatusCode::kInvalidArgument,
          fmt::format("{} {}: this would overwrite {}{}{} ({}), which is an input: give another place", output.name,
                      output.place, read.name, part.starts_with('\'') ? "" : " ", part, read.place)};
}

}  // namespace

bool is_same_file(const path& one, const path& other) {
  std::error_code error;
  return std::filesystem::equivalent(one, other, error) && !error;
}

Status check_apart(const NamedPlace& output, const NamedPlace& model) {
  if (model.place.empty()) return {};
  const auto part = part_of(platform::path_from_utf8(model.place), platform::path_from_utf8(output.place));
  return part.empty() ? Status() : refusal(output, model, part);
}

Status check_file_apart(const NamedPlace& output, const NamedPlace& model) {
  std::error_code error;
  const auto there = std::filesystem::symlink_status(platform::path_from_utf8(output.place), error);
  return there.type() == std::filesystem::file_type::not_found ? Status() : check_apart(output, model);
}

Status check_apart_from_file(const NamedPlace& output, const NamedPlace& file) {
  const auto place = platform::path_from_utf8(output.place);
  std::error_code error;
  const bool is_read =
      std::filesystem::is_regular_file(place, error) && is_same_file(place, platform::path_from_utf8(file.place));
  return is_read ? refusal(output, file, "itself") : Status();
}

}  // namespace latebind::app
