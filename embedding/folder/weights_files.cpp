#include "embedding/folder/weights_files.h"

#include <fmt/format.h>

#include <set>

#include "core/text/quote.h"
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

}  // namespace

bool has_pytorch_weights(const std::function<bool(std::string_view name)>& has) {
  return has("pytorch_model.bin") || has("pytorch_model.bin.index.json");
}

Result<std::vector<std::string>> weights_file_names(
    const std::function<bool(std::string_view name)>& has,
    const std::function<Result<std::optional<core::Json>>()>& read_index, const std::string& index_name,
    bool has_onnx_file) {
  if (has(kSafetensorsFile)) return std::vector<std::string>{std::string(kSafetensorsFile)};
  if (!has(kWeightsIndexFile)) return std::vector<std::string>();
  const auto invalid = [&](std::string_view what) {
    return Status(StatusCode::kInvalidModel, fmt::format("{}: {}", index_name, what));
  };
  LB_ASSIGN_OR_RETURN(const auto index, read_index());
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
    if (!has(name)) {
      if (has_onnx_file) return std::vector<std::string>();
      return Status(StatusCode::kNotFound,
                    fmt::format("{}: the piece '{}' of the weights is missing", index_name, printable(name)));
    }
  }
  return std::vector<std::string>(names.begin(), names.end());
}

}  // namespace latebind::embedding
