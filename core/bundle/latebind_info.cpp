#include "core/bundle/latebind_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/bundle/asset.h"
#include "core/bundle/path_rules.h"
#include "core/bundle/refusals.h"
#include "core/json/read.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

constexpr std::size_t kShapesMax = 1024;
constexpr std::size_t kDimensionsMax = 16;
constexpr std::size_t kAssetRolesMax = 256;
constexpr std::size_t kFilesMax = 20'000;
constexpr const char* kAnyShapes = "dynamic";

constexpr std::array<std::string_view, 15> kKnownKeys{
    "version", "target", "backend", "device", "runtime_version", "precision", "format",    "model",
    "shapes",  "assets", "files",   "copied", "left_to_cpu",     "refused",   "difference"};

// Returns the value of a key, or null when it is absent.
const Json* find(const Json& object, const char* key) {
  return object.find(key);
}

Result<std::map<std::string, std::string>> parse_assets(const Json& value, std::string_view where) {
  if (!value.is_object() || value.size() > kAssetRolesMax) {
    return invalid_bundle(where, fmt::format("'assets' must be an object of at most {} roles", kAssetRolesMax));
  }
  std::map<std::string, std::string> assets;
  for (const auto& [role, reference] : value.members()) {
    if (!reference.is_string())
      return invalid_bundle(where, fmt::format("the asset '{}' must be a string", printable(role)));
    LB_RETURN_IF_ERROR(parse_asset_ref(reference.text(), where).status());
    assets.emplace(role, reference.get<std::string>());
  }
  return assets;
}

Result<std::vector<RecordedFile>> parse_files(const Json& value, std::string_view where) {
  if (!value.is_array() || value.size() > kFilesMax) {
    return invalid_bundle(where, fmt::format("'files' must be a list of at most {} files", kFilesMax));
  }
  std::vector<RecordedFile> files;
  for (const Json& item : value) {
    if (!item.is_object()) return invalid_bundle(where, "'files' must be a list of objects");
    RecordedFile file;
    LB_ASSIGN_OR_RETURN(file.path, read_text(item, "path", "", where));
    LB_RETURN_IF_ERROR(check_package_path(file.path, where));
    const std::string place = fmt::format("{}: file '{}'", where, printable(file.path));
    LB_ASSIGN_OR_RETURN(const auto bytes, read_size(item, "bytes", 0, std::numeric_limits<std::size_t>::max(), place));
    LB_ASSIGN_OR_RETURN(file.sha256, read_text(item, "sha256", "", place));
    if (!bytes) return invalid_bundle(place, "'bytes' is missing");
    if (!is_sha256(file.sha256)) return invalid_bundle(place, "'sha256' must be 64 lower-case hexadecimal digits");
    file.bytes = *bytes;
    files.push_back(std::move(file));
  }
  std::vector<std::string_view> paths;
  for (const RecordedFile& file : files)
    paths.push_back(file.path);
  LB_RETURN_IF_ERROR(check_distinct_paths(paths, {}, where));
  return files;
}

Result<StoredDifference> parse_difference(const Json& value, std::string_view where) {
  const std::string place = fmt::format("{}: 'difference'", where);
  if (!value.is_object()) return invalid_bundle(place, "must be an object");
  StoredDifference difference;
  LB_ASSIGN_OR_RETURN(difference.file, read_text(value, "file", "", place));
  LB_RETURN_IF_ERROR(check_package_path(difference.file, place));
  LB_ASSIGN_OR_RETURN(difference.from, read_text(value, "from", "", place));
  LB_ASSIGN_OR_RETURN(const AssetRef from, parse_asset_ref(difference.from, place));
  if (from.path.empty()) return invalid_bundle(place, "'from' must be a file of a shared asset");
  LB_ASSIGN_OR_RETURN(const auto bytes, read_size(value, "bytes", 0, std::numeric_limits<std::size_t>::max(), place));
  if (!bytes) return invalid_bundle(place, "'bytes' is missing");
  difference.bytes = *bytes;
  LB_ASSIGN_OR_RETURN(difference.sha256, read_text(value, "sha256", "", place));
  if (!is_sha256(difference.sha256)) {
    return invalid_bundle(place, "'sha256' must be 64 lower-case hexadecimal digits");
  }
  LB_ASSIGN_OR_RETURN(difference.ep, read_text(value, "ep", "", place));
  if (const Json* host = find(value, "ort")) {
    if (!host->is_object()) return invalid_bundle(place, "'ort' must be an object");
    difference.host = *host;
  }
  return difference;
}

Json to_json(const StoredDifference& difference) {
  Json out{{"file", difference.file}, {"from", difference.from}, {"bytes", difference.bytes}};
  out["sha256"] = difference.sha256;
  if (!difference.ep.empty()) out["ep"] = difference.ep;
  if (!difference.host.is_null()) out["ort"] = difference.host;
  return out;
}

}  // namespace

Result<std::vector<std::vector<std::int64_t>>> shapes_from_json(const Json& value, std::string_view where) {
  std::vector<std::vector<std::int64_t>> shapes;
  if (value.is_string() && value.text() == kAnyShapes) return shapes;
  if (!value.is_array() || value.size() > kShapesMax) {
    return invalid_bundle(where,
                          fmt::format("'shapes' must be \"dynamic\" or a list of at most {} shapes", kShapesMax));
  }
  for (const Json& item : value) {
    if (!item.is_array() || item.size() > kDimensionsMax) {
      return invalid_bundle(where, fmt::format("a shape must be a list of at most {} dimensions", kDimensionsMax));
    }
    std::vector<std::int64_t> shape;
    for (const Json& dimension : item) {
      // The limit of 2^40 also keeps the value within the signed type.
      const bool is_size = dimension.is_number_integer() &&
                           (dimension.is_number_unsigned() || dimension.get<std::int64_t>() >= -1) &&
                           (dimension.get<std::uint64_t>() <= std::uint64_t{1} << 40U || dimension == -1);
      if (!is_size) {
        return invalid_bundle(
            where, fmt::format("the dimension {} of a shape is neither a size nor -1", printable_json(dimension)));
      }
      shape.push_back(dimension.get<std::int64_t>());
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

Json shapes_to_json(const std::vector<std::vector<std::int64_t>>& shapes) {
  return shapes.empty() ? Json(kAnyShapes) : Json(shapes);
}

Result<LatebindInfo> parse_latebind_info(const Json& slot, std::string_view where) {
  if (!slot.is_object()) return invalid_bundle(where, "must be an object");
  LatebindInfo info;
  LB_ASSIGN_OR_RETURN(const auto version, read_size(slot, "version", 1, 1'000'000, where));
  if (version.value_or(1) > LatebindInfo::kVersion) {
    return invalid_bundle(
        where, fmt::format("'version' is {}, which is newer than the supported version {}; update Latebind", *version,
                           LatebindInfo::kVersion));
  }
  struct Field {
    const char* key;
    std::string& target;
  };
  for (const Field& field : {Field{"target", info.target}, Field{"backend", info.backend}, Field{"device", info.device},
                             Field{"runtime_version", info.runtime_version}, Field{"precision", info.precision},
                             Field{"format", info.format}, Field{"model", info.model}}) {
    LB_ASSIGN_OR_RETURN(field.target, read_text(slot, field.key, "", where));
  }
  if (info.target.empty()) return invalid_bundle(where, "'target' is missing");
  if (is_asset_ref(info.model)) {
    LB_RETURN_IF_ERROR(parse_asset_ref(info.model, where).status());
  } else if (!info.model.empty()) {
    LB_RETURN_IF_ERROR(check_package_path(info.model, where));
  }
  if (const Json* shapes = find(slot, "shapes")) {
    LB_ASSIGN_OR_RETURN(info.shapes, shapes_from_json(*shapes, where));
  }
  if (const Json* assets = find(slot, "assets")) {
    LB_ASSIGN_OR_RETURN(info.assets, parse_assets(*assets, where));
  }
  if (const Json* files = find(slot, "files")) {
    LB_ASSIGN_OR_RETURN(info.files, parse_files(*files, where));
  }
  if (const Json* left = find(slot, "left_to_cpu")) {
    LB_ASSIGN_OR_RETURN(info.left_to_cpu, parse_left_nodes(*left, where));
  }
  LB_ASSIGN_OR_RETURN(info.is_copied, read_bool(slot, "copied", false, where));
  if (const Json* difference = find(slot, "difference")) {
    LB_ASSIGN_OR_RETURN(info.difference, parse_difference(*difference, where));
    if (info.model.empty() || is_asset_ref(info.model) || info.is_portable()) {
      return invalid_bundle(where, "'difference' is for a blob that is a file of the variant's folder");
    }
    if (std::ranges::find(info.files, info.difference->file, &RecordedFile::path) == info.files.end()) {
      return invalid_bundle(where, "the file of 'difference' is not one of 'files'");
    }
    if (std::ranges::find(info.files, info.model, &RecordedFile::path) != info.files.end()) {
      return invalid_bundle(where, "the model is both one of 'files' and the result of a 'difference'");
    }
  }
  if (const Json* refused = find(slot, "refused")) {
    LB_ASSIGN_OR_RETURN(info.refused, parse_refused_targets(*refused, where));
  }
  for (const auto& [key, value] : slot.members()) {
    if (std::ranges::find(kKnownKeys, key) == kKnownKeys.end()) info.more[key] = value;
  }
  return info;
}

Json to_json(const LatebindInfo& info) {
  Json out = info.more;
  out["version"] = info.difference ? LatebindInfo::kVersion : 1;
  out["target"] = info.target;
  const auto set = [&](const char* key, const std::string& text) {
    if (!text.empty()) out[key] = text;
  };
  set("backend", info.backend);
  set("device", info.device);
  set("runtime_version", info.runtime_version);
  set("precision", info.precision);
  set("format", info.format);
  set("model", info.model);
  out["shapes"] = shapes_to_json(info.shapes);
  if (!info.assets.empty()) out["assets"] = info.assets;
  if (info.left_to_cpu.count > 0) out["left_to_cpu"] = to_json(info.left_to_cpu);
  if (info.is_copied) out["copied"] = true;
  if (info.difference) out["difference"] = to_json(*info.difference);
  if (!info.refused.empty()) out["refused"] = to_json(info.refused);
  out["files"] = Json::array();
  for (const RecordedFile& file : info.files)
    out["files"].push_back({{"path", file.path}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  return out;
}

}  // namespace latebind::core
