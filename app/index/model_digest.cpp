#include "app/index/model_digest.h"

#include <map>
#include <system_error>
#include <vector>

#include "app/model_source.h"
#include "core/platform/digest.h"
#include "core/platform/files/folder_entries.h"
#include "core/platform/files/folders.h"
#include "embedding/folder/model_folder.h"

namespace latebind::app {
namespace {

using core::Result;
using core::Status;
using std::filesystem::path;

// Adds files of external data beside an ONNX model: "model.onnx_data", "model.onnx.data".
void add_data_beside(const path& onnx_file, std::vector<path>& files) {
  const std::string begin = platform::path_to_utf8(onnx_file.filename());
  std::error_code ignored;
  platform::for_each_entry(onnx_file.parent_path(), ignored, [&](const path& entry) {
    const std::string name = platform::path_to_utf8(entry.filename());
    std::error_code error;
    if (name.size() > begin.size() && name.starts_with(begin) && std::filesystem::is_regular_file(entry, error))
      files.push_back(entry);
    return true;
  });
}

Status add_files(const embedding::Specification& model, core::FileDigests* digests,
                 std::map<std::string, std::string>& found) {
  std::vector<path> files = model.small_files;
  for (const path& file : model.large_files())
    files.push_back(file);
  if (model.network.term_table_file) files.push_back(*model.network.term_table_file);
  if (model.files.package() == nullptr && model.network.onnx_file) add_data_beside(*model.network.onnx_file, files);
  for (const path& file : files) {
    std::string& digest = found[model.files.relative(file)];
    if (!digest.empty()) continue;
    if (const auto stored_at = model.files.on_disk(file)) {
      auto known = digests != nullptr ? digests->known(*stored_at)
                                      : Result<std::string>(Status(core::StatusCode::kNotFound, ""));
      if (!known.ok())
        known = digests != nullptr ? digests->compute(*stored_at) : platform::sha256_hex_of_file(*stored_at);
      if (!known.ok()) return known.status();
      digest = *std::move(known);
    } else if (digest = model.files.identity(file); digest.empty()) {
      LB_ASSIGN_OR_RETURN(const auto stored, model.files.open_file(file));
      digest = platform::sha256_hex(stored.bytes());
    }
  }
  return {};
}

}  // namespace

Result<std::string> model_digest(const path& place, const std::string& onnx_file, core::FileDigests* digests) {
  LB_ASSIGN_OR_RETURN(const auto folder, embedding::ModelFolder::open(place, folder_options(onnx_file)));
  std::map<std::string, std::string> found;  // digests by file name
  LB_RETURN_IF_ERROR(add_files(folder.documents(), digests, found));
  if (folder.has_routes()) LB_RETURN_IF_ERROR(add_files(*folder.queries(), digests, found));
  platform::Sha256 all;
  for (const auto& [name, digest] : found) {
    all.update(name);
    all.update(std::string_view("\0", 1));
    all.update(digest);
    all.update(std::string_view("\n", 1));
  }
  return all.hex();
}

}  // namespace latebind::app
