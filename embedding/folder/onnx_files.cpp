#include "embedding/folder/onnx_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <system_error>
#include <utility>

#include "core/graph/onnx_structure.h"
#include "core/platform/files/folder_entries.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "core/text/quote.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using std::filesystem::path;

// The most files that a message names.
constexpr std::size_t kShownMax = 24;
constexpr std::size_t kEntriesMax = 4096;
constexpr unsigned kFoldersDeepMax = 2;

bool is_onnx_name(std::string_view name) {
  return name.ends_with(".onnx");
}

void add_onnx_files(const path& folder, const std::string& prefix, unsigned depth, std::size_t& left,
                    std::vector<std::string>& found) {
  std::vector<path> folders;
  std::error_code error;
  platform::for_each_entry(folder, error, [&](const path& entry) {
    if (left == 0) return false;
    --left;
    std::error_code ignored;
    const std::string name = platform::path_to_utf8(entry.filename());
    if (is_onnx_name(name) && std::filesystem::is_regular_file(entry, ignored)) found.push_back(prefix + name);
    if (depth < kFoldersDeepMax && !name.starts_with('.') && std::filesystem::is_directory(entry, ignored))
      folders.push_back(entry);
    return true;
  });
  for (const path& below : folders)
    add_onnx_files(below, prefix + platform::path_to_utf8(below.filename()) + "/", depth + 1, left, found);
}

}  // namespace

bool stays_inside(const std::string& relative) {
  const path part = platform::path_from_utf8(relative);
  return !part.has_root_path() && relative.find('\\') == std::string::npos &&
         relative.find('\0') == std::string::npos &&
         std::none_of(part.begin(), part.end(), [](const path& step) { return step == ".."; });
}

std::string say_onnx_files(std::string_view model, std::vector<std::string> names) {
  std::erase_if(names, [](const std::string& name) { return !is_onnx_name(name); });
  if (names.empty()) return fmt::format("{} has no ONNX file", model);
  std::ranges::sort(names);
  std::string text = fmt::format("{} has the ONNX file{} ", model, names.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < std::min(names.size(), kShownMax); ++i)
    text += (i == 0 ? "" : ", ") + core::printable(names[i]);
  if (names.size() > kShownMax) text += fmt::format(" and {} more", names.size() - kShownMax);
  return text;
}

std::vector<std::string> list_onnx_files(const ModelFiles& files) {
  std::vector<std::string> found;
  std::size_t left = kEntriesMax;
  if (files.package() == nullptr) add_onnx_files(files.place(), "", 0, left, found);
  return found;
}

Result<path> find_onnx_file(const ModelFiles& files, const std::string& relative) {
  if (files.package() != nullptr) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("embedding.onnx_file is {}, and {} is a bundle, which has one portable model: the file is "
                    "chosen when the bundle is compiled",
                    core::quoted(relative), platform::quoted(files.place())));
  }
  const auto refusal = [&](StatusCode code, std::string_view what) {
    return Status(code, fmt::format("embedding.onnx_file is {}, {}; {}", core::quoted(relative), what,
                                    say_onnx_files(platform::quoted(files.place()), list_onnx_files(files))));
  };
  if (!stays_inside(relative)) return refusal(StatusCode::kInvalidArgument, "which leads out of the model's folder");
  path file = files.place() / platform::path_from_utf8(relative);
  if (!files.has(file)) return refusal(StatusCode::kNotFound, "which is not a file of the model's folder");
  LB_ASSIGN_OR_RETURN(const StoredFile stored, files.open_file(file));
  if (const Status status = graph::check_onnx_structure(stored.bytes()); !status.ok()) {
    return refusal(StatusCode::kInvalidModel, fmt::format("which is not an ONNX file ({})", status.message()));
  }
  return file;
}

}  // namespace latebind::embedding
