#include "cli/compile_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "core/bundle/own_folder.h"
#include "core/onnx_structure.h"
#include "core/platform/folders.h"
#include "core/platform/mapped_file.h"
#include "core/platform/output_file.h"
#include "core/platform/output_folder.h"
#include "embedding/hub/name.h"

namespace latebind::cli {
namespace {

using core::Status;
using core::StatusCode;
using std::filesystem::path;

// How deep a model's folder has files that are links.
constexpr int kLinkDepthMax = 2;

bool is_same(const path& one, const path& other) {
  std::error_code error;
  return std::filesystem::equivalent(one, other, error) && !error;
}

path resolved(const path& place) {
  std::error_code error;
  auto absolute = std::filesystem::absolute(place, error);
  auto canonical = std::filesystem::weakly_canonical(absolute, error);
  return error ? absolute.lexically_normal() : canonical;
}

bool is_below(const path& place, const path& folder) {
  return std::ranges::mismatch(folder, place).in1 == folder.end();
}

// Files of the hub's cache are links to others.
bool is_linked_from(const path& folder, const path& output) {
  std::error_code error;
  if (!std::filesystem::exists(output, error)) return false;
  std::filesystem::recursive_directory_iterator entry(folder, error);
  for (const std::filesystem::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    if (entry.depth() >= kLinkDepthMax) entry.disable_recursion_pending();
    std::error_code ignored;
    if (entry->is_symlink(ignored) && is_same(entry->path(), output)) return true;
  }
  return false;
}

bool is_in_folder(const path& folder, const path& output) {
  const path whole = resolved(folder);
  const path full = output.has_filename() ? output : output.parent_path();
  std::error_code error;
  const path entry = resolved(std::filesystem::absolute(full, error).parent_path()) / full.filename();
  return is_below(resolved(full), whole) || is_below(entry, whole) || is_linked_from(folder, full);
}

// Whether an ONNX file may keep its data in `output`, which names of it alone would tell; but what this command writes
// is no such file.
bool may_keep_data_in(const path& model, const path& output) {
  constexpr std::array<std::string_view, 3> kOurs{".lbundle", ".pte", ".blob"};
  if (std::ranges::find(kOurs, output.extension().string()) != kOurs.end()) return false;
  if (!is_below(resolved(output), resolved(model).parent_path())) return false;
  const auto mapped = platform::MappedFile::open(model);
  return mapped.ok() && core::may_name_external_data(mapped->bytes());
}

// What of the model the output is, or "".
std::string_view part_of(const path& model, const path& output) {
  std::error_code error;
  if (is_same(model, output)) return "itself";
  if (std::filesystem::is_directory(model, error)) return is_in_folder(model, output) ? "'s own folder" : "";
  if (!std::filesystem::is_regular_file(output, error)) return "";
  const bool is_onnx = model.extension() == ".onnx";
  const bool is_data =
      is_onnx ? may_keep_data_in(model, output) : is_same(path(model).replace_extension(".bin"), output);
  return is_data ? "'s weights" : "";
}

// "models/m.onnx" has the form of a name on the hub.
bool is_file_name(std::string_view model) {
  constexpr std::array<std::string_view, 5> kEndings{".onnx", ".xml", ".bin", ".pte", ".lbundle"};
  return std::ranges::any_of(kEndings, [model](std::string_view ending) { return model.ends_with(ending); });
}

Status check_apart(const std::string& output, std::string_view what, const std::string& model) {
  if (model.empty()) return {};
  const std::string_view part = part_of(platform::path_from_utf8(model), platform::path_from_utf8(output));
  if (part.empty()) return {};
  return {StatusCode::kInvalidArgument,
          fmt::format("-o {}: writing there would write over {}{}{} ({}), which is read: give another place", output,
                      what, part.starts_with('\'') ? "" : " ", part, model)};
}

}  // namespace

Status check_output(const CompileOptions& options, bool is_program) {
  if (options.output.empty()) return {StatusCode::kInvalidArgument, "-o is empty: give the name of a file"};
  if (options.output == "-") {
    return {StatusCode::kInvalidArgument, "-o -: a compiled model is a file, not output to a pipe: give its name"};
  }
  const bool is_bundle = options.format == CompileFormat::kBundle || options.format == CompileFormat::kFolder;
  const bool replaced = is_program ? options.format == CompileFormat::kPte : options.add && is_bundle;
  const bool over_itself =
      replaced && is_same(platform::path_from_utf8(options.model), platform::path_from_utf8(options.output));
  if (over_itself && !platform::can_replace_mapped_files()) {
    return {StatusCode::kInvalidArgument,
            fmt::format("-o {}: Windows lets nothing take the place of a file that is read: give another name",
                        options.output)};
  }
  if (!over_itself) LB_RETURN_IF_ERROR(check_apart(options.output, "MODEL", options.model));
  LB_RETURN_IF_ERROR(check_apart(options.output, "--model", options.pte.model));
  if (options.format != CompileFormat::kFolder) return {};
  const auto place = platform::path_from_utf8(options.output);
  LB_RETURN_IF_ERROR(platform::OutputFolder::place_of(place).status().with_context("-o"));
  return core::check_replaceable(place, place).with_context("-o");
}

Status check_output_of(const CompileInput& input, const std::string& output) {
  if (!input.folder || input.added_to) return {};
  return check_apart(output, "the model", platform::path_to_utf8(input.folder->files.place()));
}

Status check_input(const std::string& what, const std::string& model) {
  std::error_code error;
  if (std::filesystem::exists(platform::path_from_utf8(model), error) || error) return {};
  if (embedding::hub::is_model_name(model) && !is_file_name(model)) return {};
  return {StatusCode::kNotFound, fmt::format("cannot read {} '{}': there is no such file or folder; check its name, or "
                                             "give a model's name on the hub, ORG/NAME",
                                             what, model)};
}

}  // namespace latebind::cli
