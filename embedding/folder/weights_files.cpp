#include "embedding/folder/weights_files.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "core/text/quote.h"
#include "embedding/folder/model_files.h"
#include "embedding/weights/safetensors.h"

namespace latebind::embedding {
namespace {

using core::printable;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::size_t kPiecesMax = 256;

// The list is untrusted: a piece must be a file in the same folder.
bool is_plain_name(std::string_view name) {
  return !name.empty() && !name.starts_with('.') && name.find_first_of(std::string_view("/\\:\0", 4)) == name.npos;
}

// Returns the pieces that the list names. Returns an empty list if one is missing, but an ONNX file replaces them.
Result<std::vector<std::string>> pieces_of(const WeightsFolder& folder, std::string_view index_name,
                                           bool has_onnx_file) {
  const std::string shown = folder.shown(index_name);
  const auto invalid = [&](std::string_view what) {
    return Status(StatusCode::kInvalidModel, fmt::format("{}: {}", shown, what));
  };
  LB_ASSIGN_OR_RETURN(const auto index, folder.read_index(index_name));
  const auto* const map = index ? core::find_member(*index, "weight_map") : nullptr;
  if (map == nullptr || !map->is_object() || map->empty()) return invalid("no object 'weight_map'");
  std::set<std::string> names;
  for (const auto& [tensor, piece] : map->members()) {
    if (!piece.is_string() || !is_plain_name(piece.text())) {
      return invalid(fmt::format("tensor '{}' is in {}, which is not a file of the folder", printable(tensor),
                                 core::printable_json(piece)));
    }
    names.insert(piece.get<std::string>());
    if (names.size() > kPiecesMax) return invalid(fmt::format("more than {} pieces", kPiecesMax));
  }
  for (const std::string& name : names) {
    if (!folder.has(name)) {
      if (has_onnx_file) return std::vector<std::string>();
      return Status(StatusCode::kNotFound,
                    fmt::format("{}: the piece '{}' of the weights is missing", shown, printable(name)));
    }
  }
  return std::vector<std::string>(names.begin(), names.end());
}

}  // namespace

std::string_view single_weights_file(const HasFile& has) {
  for (const std::string_view name : {kSafetensorsFile, kTorchFile, kGgufFile}) {
    if (has(name)) return name;
  }
  return {};
}

std::filesystem::path single_weights_file(const ModelFiles& files, const std::filesystem::path& folder) {
  const std::string_view name = single_weights_file([&](std::string_view one) { return files.has(folder / one); });
  return folder / (name.empty() ? kSafetensorsFile : name);
}

bool has_weights_files(const HasFile& has) {
  return !single_weights_file(has).empty() || has(kWeightsIndexFile) || has(kTorchIndexFile) || has(kGgufIndexFile);
}

Result<WeightsNames> weights_file_names(const WeightsFolder& folder, bool has_onnx_file) {
  for (const auto& [single, index] :
       {std::pair(kSafetensorsFile, kWeightsIndexFile), {kTorchFile, kTorchIndexFile}, {kGgufFile, kGgufIndexFile}}) {
    if (folder.has(single)) return WeightsNames{.files = {std::string(single)}};
    if (!folder.has(index)) continue;
    LB_ASSIGN_OR_RETURN(auto pieces, pieces_of(folder, index, has_onnx_file));
    if (!pieces.empty()) return WeightsNames{.files = std::move(pieces), .index = std::string(index)};
  }
  return WeightsNames();
}

}  // namespace latebind::embedding
