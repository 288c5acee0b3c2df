#include "backends/plugin/found/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/json/read.h"
#include "core/text/ascii.h"
#include "core/text/one_line.h"
#include "core/text/quote.h"

namespace latebind::plugin {
namespace {

using core::Json;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::size_t kNameMax = 32;
constexpr std::size_t kPathMax = 4096;
constexpr std::size_t kWordMax = 64;
constexpr std::size_t kDescriptionMax = 1000;
constexpr std::size_t kContractMax = std::numeric_limits<std::uint32_t>::max();

Status invalid(std::string_view file, std::string_view mistake) {
  return Status(StatusCode::kInvalidModel, fmt::format("{}: {}", file, mistake));
}

// Reads a text of one line. A required one must not be empty.
Result<std::string> read_line(const Json& object, const char* key, std::size_t most, bool required,
                              std::string_view file) {
  LB_ASSIGN_OR_RETURN(std::string text, core::read_text(object, key, "", file));
  if (text.empty() && required) return invalid(file, fmt::format("'{}' is missing or empty", key));
  if (text.size() > most) return invalid(file, fmt::format("'{}' is longer than {} bytes", key, most));
  if (core::one_line(text) != text) {
    return invalid(
        file, fmt::format("'{}' must be one line of text without blanks at its ends, not {}", key, core::quoted(text)));
  }
  return text;
}

Result<std::uint32_t> read_contract(const Json& contract, const char* key, std::string_view file) {
  LB_ASSIGN_OR_RETURN(const auto number, core::read_size(contract, key, 1, kContractMax, file));
  if (!number) return invalid(file, fmt::format("'contract' has no '{}': give both versions", key));
  return static_cast<std::uint32_t>(*number);
}

}  // namespace

bool is_backend_name(std::string_view name) {
  const auto is_lower = [](char c) { return core::is_ascii_letter(c) && core::ascii_lower(c) == c; };
  return !name.empty() && name.size() <= kNameMax && is_lower(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_lower(c) || core::is_ascii_digit(c) || c == '_'; });
}

Result<Manifest> parse_manifest(std::string_view text, std::string_view file) {
  LB_ASSIGN_OR_RETURN(const Json json, core::parse_json(text, file, {.bytes_max = kManifestBytesMax}));
  if (!json.is_object()) return invalid(file, "is not a plug-in's manifest: it must be a JSON object");
  LB_ASSIGN_OR_RETURN(const auto format, core::read_size(json, "format", 1, kContractMax, file));
  if (!format) return invalid(file, "is not a plug-in's manifest: it has no 'format'");
  if (*format != kManifestFormat) {
    return invalid(file, fmt::format("is a manifest of format {}; this Latebind reads format {}: install a version of "
                                     "the plug-in for it, or a newer Latebind",
                                     *format, kManifestFormat));
  }
  Manifest manifest;
  LB_ASSIGN_OR_RETURN(manifest.name, read_line(json, "name", kPathMax, true, file));
  if (!is_backend_name(manifest.name)) {
    return invalid(file, fmt::format("'name' must be a lower-case letter followed by at most {} lower-case letters, "
                                     "digits and '_', not {}",
                                     kNameMax - 1, core::quoted(manifest.name)));
  }
  LB_ASSIGN_OR_RETURN(manifest.library, read_line(json, "library", kPathMax, true, file));
  const Json* const contract = core::find_member(json, "contract");
  if (contract == nullptr || !contract->is_object()) {
    return invalid(file, "'contract' must be an object such as {\"least\": 1, \"most\": 1}");
  }
  LB_ASSIGN_OR_RETURN(manifest.contract_least, read_contract(*contract, "least", file));
  LB_ASSIGN_OR_RETURN(manifest.contract_most, read_contract(*contract, "most", file));
  if (manifest.contract_least > manifest.contract_most) {
    return invalid(
        file, fmt::format("'contract' has least {} above most {}", manifest.contract_least, manifest.contract_most));
  }
  LB_ASSIGN_OR_RETURN(manifest.platform, read_line(json, "platform", kWordMax, true, file));
  LB_ASSIGN_OR_RETURN(manifest.version, read_line(json, "version", kWordMax, false, file));
  LB_ASSIGN_OR_RETURN(manifest.description, read_line(json, "description", kDescriptionMax, false, file));
  return manifest;
}

Json to_json(const Manifest& manifest) {
  Json json;
  json["format"] = kManifestFormat;
  json["name"] = manifest.name;
  json["library"] = manifest.library;
  json["contract"] = Json{{"least", manifest.contract_least}, {"most", manifest.contract_most}};
  json["platform"] = manifest.platform;
  if (!manifest.version.empty()) json["version"] = manifest.version;
  if (!manifest.description.empty()) json["description"] = manifest.description;
  return json;
}

}  // namespace latebind::plugin
