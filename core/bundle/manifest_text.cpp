#include <fmt/format.h>

#include "core/bundle/manifest.h"
#include "core/bundle/path_rules.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

using nlohmann::json;

void set(json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

void set(json& object, const char* key, const json& value) {
  if (!value.is_null()) object[key] = value;
}

json to_json(const Variant& variant) {
  json out = json::object();
  if (variant.folder) out["variant_directory"] = *variant.folder;
  set(out, "ep", variant.ep);
  set(out, "device", variant.device);
  set(out, "compatibility_string", variant.compatibility_string);
  json slots = json::object();
  for (const auto& [consumer, slot] : variant.executor_info)
    slots[consumer] = slot;
  if (variant.latebind) slots[kLatebindSlot] = to_json(*variant.latebind);
  if (!slots.empty()) out["executor_info"] = std::move(slots);
  set(out, "additional_metadata", variant.additional_metadata);
  return out;
}

json to_json(const Component& component) {
  json out = json::object();
  out["variants"] = json::object();
  for (const Variant& variant : component.variants)
    out["variants"][variant.name] = to_json(variant);
  set(out, "additional_metadata", component.additional_metadata);
  return out;
}

}  // namespace

Result<std::string> manifest_text(const Manifest& manifest) {
  json out = json::object();
  out["schema_version"] = fmt::format("{}.{}", Manifest::kMajor, manifest.schema_minor);
  set(out, "package_name", manifest.package_name);
  set(out, "package_version", manifest.package_version);
  set(out, "description", manifest.description);
  out["layout"] = word_of(manifest.layout);
  out["components"] = json::object();
  for (const Component& component : manifest.components)
    out["components"][component.name] = to_json(component);
  if (!manifest.shared_assets.empty()) out["shared_assets"] = manifest.shared_assets;
  set(out, "additional_metadata", manifest.additional_metadata);
  try {
    return out.dump(2) + "\n";
  } catch (const json::exception& error) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("cannot write a manifest with text that is not UTF-8: {}", printable(error.what())));
  }
}

}  // namespace latebind::core
