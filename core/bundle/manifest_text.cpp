#include <fmt/format.h>

#include <optional>
#include <string>

#include "core/bundle/manifest.h"
#include "core/bundle/path_rules.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"

namespace latebind::core {
namespace {

void set(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

void set(Json& object, const char* key, const Json& value) {
  if (!value.is_null()) object[key] = value;
}

std::optional<std::string> text_that_is_not_utf8(const Json& json) {
  if (find_invalid_utf8(json.text())) return json.text();
  for (const Json& item : json) {
    if (auto text = text_that_is_not_utf8(item)) return text;
  }
  for (const auto& [key, value] : json.members()) {
    if (find_invalid_utf8(key)) return key;
    if (auto text = text_that_is_not_utf8(value)) return text;
  }
  return std::nullopt;
}

Json to_json(const Variant& variant) {
  Json out = Json::object();
  if (variant.folder) out["variant_directory"] = *variant.folder;
  set(out, "ep", variant.ep);
  set(out, "device", variant.device);
  set(out, "compatibility_string", variant.compatibility_string);
  Json slots = Json::object();
  for (const auto& [consumer, slot] : variant.executor_info)
    slots[consumer] = slot;
  if (variant.latebind) slots[kLatebindSlot] = to_json(*variant.latebind);
  if (!slots.empty()) out["executor_info"] = std::move(slots);
  set(out, "additional_metadata", variant.additional_metadata);
  return out;
}

Json to_json(const Component& component) {
  Json out = Json::object();
  out["variants"] = Json::object();
  for (const Variant& variant : component.variants)
    out["variants"][variant.name] = to_json(variant);
  set(out, "additional_metadata", component.additional_metadata);
  return out;
}

}  // namespace

Result<std::string> manifest_text(const Manifest& manifest) {
  Json out = Json::object();
  out["schema_version"] = fmt::format("{}.{}", Manifest::kMajor, manifest.schema_minor);
  set(out, "package_name", manifest.package_name);
  set(out, "package_version", manifest.package_version);
  set(out, "description", manifest.description);
  out["layout"] = word_of(manifest.layout);
  out["components"] = Json::object();
  for (const Component& component : manifest.components)
    out["components"][component.name] = to_json(component);
  if (!manifest.shared_assets.empty()) out["shared_assets"] = manifest.shared_assets;
  set(out, "additional_metadata", manifest.additional_metadata);
  if (const auto text = text_that_is_not_utf8(out)) {
    return Status(StatusCode::kInvalidArgument, fmt::format("cannot write a manifest with text that is not UTF-8: {}",
                                                            latebind::core::quoted(*text)));
  }
  return out.dump(2) + "\n";
}

}  // namespace latebind::core
