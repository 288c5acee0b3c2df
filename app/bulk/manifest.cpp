#include "app/bulk/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "core/json/read.h"
#include "core/platform/digest.h"
#include "core/platform/os_error.h"
#include "core/platform/system_info.h"
#include "core/text/quote.h"

namespace latebind::app {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::size_t kBlock = std::size_t{1} << 20;
// The limits in bytes for showing a key or a value, and a path of keys.
constexpr std::size_t kShownMax = 100;
constexpr std::size_t kPlaceMax = 200;

Status changed(const ManifestInput& input) {
  return Status(StatusCode::kIo, fmt::format("{} changed while it was read; run this again", input.name));
}

Status check_unchanged(const ManifestInput& input) {
  LB_ASSIGN_OR_RETURN(const auto now, platform::file_identity(input.file));
  return now == input.identity ? Status() : changed(input);
}

Result<Json> describe(const ManifestInput& input) {
  std::ifstream stream(input.file, std::ios::binary);
  if (!stream.is_open()) return platform::status_of_errno("open", input.file, errno);
  platform::Sha256 digest;
  std::string block(kBlock, '\0');
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;
  char last = '\n';
  while (stream.read(block.data(), static_cast<std::streamsize>(block.size())), stream.gcount() > 0) {
    const std::string_view part(block.data(), static_cast<std::size_t>(stream.gcount()));
    digest.update(part);
    bytes += part.size();
    lines += static_cast<std::uint64_t>(std::ranges::count(part, '\n'));
    last = part.back();
  }
  if (stream.bad()) return platform::status_of_errno("read", input.file, EIO);
  LB_RETURN_IF_ERROR(check_unchanged(input));
  Json json;
  json["name"] = input.name;
  json["bytes"] = bytes;
  json["rows"] = lines + (last == '\n' ? 0 : 1);
  json["sha256"] = digest.hex();
  return json;
}

std::optional<std::string> shown(const Json& value) {
  if (value.is_null()) return std::nullopt;
  if (value.is_object() && value.contains("name")) return core::printable(to_line(value["name"]), kShownMax);
  return value.is_structured() ? "there" : core::printable(to_line(value), kShownMax);
}

const Json& member(const Json& json, const std::string& key) {
  return json[key];
}

std::string place_of(const std::string& parent, const std::string& key) {
  return (parent.empty() ? "" : parent + ".") + core::printable(key, kShownMax);
}

// Looks up the keys of each object in the other one, so that the time is bounded by the product of both sizes: `now` is
// small.
void add_differences(const Json& was, const Json& now, const std::string& place, std::vector<Difference>& found) {
  static const Json nothing;
  if (found.size() == kDifferencesMax) return;
  if (was.is_object() && now.is_object()) {
    for (const auto& [key, value] : was.members())
      add_differences(value, member(now, key), place_of(place, key), found);
    for (const auto& [key, value] : now.members())
      if (!was.contains(key)) add_differences(nothing, value, place_of(place, key), found);
    return;
  }
  if (was.is_array() && now.is_array()) {
    for (std::size_t i = 0; i < std::max(was.size(), now.size()); ++i) {
      add_differences(i < was.size() ? was[i] : nothing, i < now.size() ? now[i] : nothing,
                      fmt::format("{}[{}]", place, i), found);
    }
    return;
  }
  if (was != now) found.push_back({core::printable(place, kPlaceMax), shown(was), shown(now)});
}

}  // namespace

Result<Json> describe_inputs(const std::vector<ManifestInput>& inputs) {
  Json json = Json::array();
  for (const ManifestInput& input : inputs) {
    LB_ASSIGN_OR_RETURN(auto one, describe(input));
    json.push_back(std::move(one));
  }
  return as_written(json);
}

Status check_unchanged(const std::vector<ManifestInput>& inputs) {
  for (const ManifestInput& input : inputs)
    LB_RETURN_IF_ERROR(check_unchanged(input));
  return {};
}

Json describe_answers(const std::string& model_digest, const core::ActiveConfig& active, std::size_t dimension) {
  std::string processor;
  if (active.device == "CPU") {
    for (const std::string& feature : platform::cpu_features())
      processor += (processor.empty() ? "" : " ") + feature;
  }
  Json json;
  json["model"] = "sha256:" + model_digest;
  json["device"] = fmt::format("{}:{}", active.backend, active.device);
  json["device_full_name"] = active.device_full_name;
  json["processor"] = processor;
  json["precision"] = core::word_of(active.precision);
  json["runtime_version"] = active.runtime_version;
  json["threads"] = active.threads;
  json["requests"] = active.requests;
  json["version"] = LATEBIND_VERSION;
  json["dimension"] = dimension;
  return json;
}

Json as_written(const Json& json) {
  return core::json_or_null(to_line(json));
}

Result<Json> parse_manifest(const std::string& text, const std::string& name) {
  const auto parsed = core::parse_json(text, name, {.bytes_max = kManifestBytesMax});
  Json json = parsed.ok() ? Json(*parsed) : Json();
  const Json* const format = json.find("format");
  if (format == nullptr || !format->is_number_integer()) {
    return Status(StatusCode::kInvalidArgument, fmt::format("{} is not a manifest of Latebind", name));
  }
  if (*format != kManifestFormat) {
    return Status(StatusCode::kInvalidArgument, fmt::format("{} has the format {}; this version of latebind writes {}",
                                                            name, to_line(*format), kManifestFormat));
  }
  return json;
}

std::vector<Difference> differences(const Json& was, const Json& now) {
  std::vector<Difference> found;
  add_differences(was, now, "", found);
  return found;
}

}  // namespace latebind::app
