#include "core/bundle/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <span>
#include <utility>

#include "core/bundle/asset.h"
#include "core/bundle/path_rules.h"
#include "core/bundle/refusals.h"
#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

constexpr JsonLimits kLimits{.bytes_max = std::size_t{8} << 20, .depth_max = 64};
constexpr std::size_t kComponentsMax = 256;
constexpr std::size_t kVariantsMax = 1024;
constexpr std::size_t kConsumersMax = 64;
constexpr std::size_t kAssetsMax = 256;
constexpr std::size_t kNameBytesMax = 256;
constexpr std::size_t kTextBytesMax = std::size_t{64} << 10;
// The total size of all files that a manifest refers to.
constexpr std::size_t kReferredBytesMax = std::size_t{32} << 20;
constexpr const char* kComponentFile = "component.json";

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Reads the manifest of one package; the members where_ … name the file that is being read.
class Reader {
 public:
  Reader(const PackageFiles& files, InstalledLayout installed) : files_(files), installed_(installed) {}

  Result<Manifest> read() {
    const std::string where = place_of(kManifestFile);
    if (!files_.has_file(kManifestFile)) {
      return Status(
          StatusCode::kNotFound,
          fmt::format("{}: not a bundle: it has no {}{}", files_.name(), kManifestFile,
                      files_.has_file("config.json")
                          ? "; if it is a model's folder, use `latebind embed` or `latebind serve`, or make a "
                            "bundle of it with `latebind compile`"
                          : ""));
    }
    LB_ASSIGN_OR_RETURN(const Json root, read_json(kManifestFile));
    if (!root.is_object()) return invalid_bundle(where, "expected an object");
    Manifest manifest;
    LB_RETURN_IF_ERROR(read_version(root, where, manifest));
    LB_RETURN_IF_ERROR(check_keys(root, where,
                                  {"schema_version", "package_name", "package_version", "description", "layout",
                                   "components", "shared_assets", "additional_metadata"}));
    LB_ASSIGN_OR_RETURN(manifest.package_name, text(root, "package_name", where));
    LB_ASSIGN_OR_RETURN(manifest.package_version, text(root, "package_version", where));
    LB_ASSIGN_OR_RETURN(manifest.description, text(root, "description", where));
    LB_RETURN_IF_ERROR(read_layout(root, where, manifest));
    LB_RETURN_IF_ERROR(read_assets(root, where, manifest));
    LB_RETURN_IF_ERROR(read_components(root, where, manifest));
    manifest.additional_metadata = root.value("additional_metadata", Json());
    return manifest;
  }

 private:
  [[nodiscard]] std::string place_of(std::string_view file) const {
    return fmt::format("{}: {}", files_.name(), printable(file));
  }

  // Compares the checksum of a ZIP, because these files decide what everything else means.
  Result<Json> read_json(std::string_view file) {
    LB_ASSIGN_OR_RETURN(const SharedBytes bytes, files_.read(file));
    if (bytes.bytes.size() > kReferredBytesMax - read_bytes_) {
      return invalid_bundle(
          place_of(file),
          fmt::format("the package has more than {} bytes of JSON, including this file", kReferredBytesMax));
    }
    read_bytes_ += bytes.bytes.size();
    LB_RETURN_IF_ERROR(files_.check(file));
    return parse_json(text_of(bytes.bytes), place_of(file), kLimits);
  }

  Status read_version(const Json& root, std::string_view where, Manifest& manifest) {
    const auto found = root.find("schema_version");
    if (found == nullptr) return invalid_bundle(where, "'schema_version' is missing");
    std::string version;
    if (found->is_number_unsigned()) {
      version = found->dump() + ".0";
    } else if (found->is_string()) {
      version = found->get<std::string>();
    }
    const char* const end = version.data() + version.size();
    std::size_t major = 0;
    const auto [dot, error] = std::from_chars(version.data(), end, major);
    bool is_good = error == std::errc() && dot != end && *dot == '.' && dot + 1 != end;
    if (is_good) {
      const auto [last, minor_error] = std::from_chars(dot + 1, end, manifest.schema_minor);
      is_good = minor_error == std::errc() && last == end;
    }
    if (!is_good) return invalid_bundle(where, "'schema_version' must be a text such as \"1.0\"");
    if (major != Manifest::kMajor) {
      return invalid_bundle(
          where, fmt::format("'schema_version' is {}; only {}.x is supported", printable(version), Manifest::kMajor));
    }
    is_newer_ = manifest.schema_minor > 0;
    return Status();
  }

  [[nodiscard]] Status check_keys(const Json& object, std::string_view where,
                                  std::initializer_list<std::string_view> known) const {
    if (is_newer_) return Status();
    for (const auto& [key, value] : object.members()) {
      if (std::ranges::find(known, key) == known.end()) {
        return invalid_bundle(where, fmt::format("the key '{}' is unknown", printable(key)));
      }
    }
    return Status();
  }

  static Result<std::string> text(const Json& object, const char* key, std::string_view where) {
    const auto found = object.find(key);
    if (found == nullptr) return std::string();
    if (!found->is_string()) return invalid_bundle(where, fmt::format("'{}' must be a string", key));
    if (found->text().size() > kTextBytesMax) {
      return invalid_bundle(where, fmt::format("'{}' is longer than {} bytes", key, kTextBytesMax));
    }
    return found->get<std::string>();
  }

  static Status check_name(std::string_view name, std::string_view where) {
    if (!name.empty() && name.size() <= kNameBytesMax) return Status();
    return invalid_bundle(where, fmt::format("the name '{}' must have 1 to {} bytes", printable(name), kNameBytesMax));
  }

  // Converts a path of the manifest to a path of the package, or, with an installed layout, also to an absolute one.
  [[nodiscard]] Result<std::string> resolve(std::string_view base, const std::string& given,
                                            std::string_view where) const {
    if (!is_installed_) return join_package_path(base, given, where);
    if (given.empty() || given.find('\0') != std::string::npos)
      return invalid_bundle(where, "a path is empty or invalid");
    const std::filesystem::path from = platform::path_from_utf8(std::string(base));
    const std::filesystem::path joined = (from / platform::path_from_utf8(given)).lexically_normal();
    if (!joined.is_absolute() && !joined.empty() && *joined.begin() != "..") {
      return join_package_path("", joined.generic_string(), where);
    }
    const std::filesystem::path root = platform::path_from_utf8(files_.name());
    std::error_code error;
    const auto absolute = std::filesystem::absolute(root / joined, error).lexically_normal();
    if (error) return invalid_bundle(where, fmt::format("the path '{}' does not exist", printable(given)));
    return platform::path_to_utf8(absolute);
  }

  Status read_layout(const Json& root, std::string_view where, Manifest& manifest) {
    LB_ASSIGN_OR_RETURN(const std::string word, text(root, "layout", where));
    if (!root.contains("layout")) return Status();
    const auto layout = parse_word<PackageLayout>(word);
    if (!layout.ok()) return invalid_bundle(where, layout.status().message());
    manifest.layout = *layout;
    is_installed_ = *layout == PackageLayout::kInstalled;
    if (is_installed_ && (installed_ == InstalledLayout::kRefused || files_.is_zip())) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("{}: the package has the layout 'installed', which may refer to any file of this "
                                "machine; only portable packages are supported",
                                where));
    }
    return Status();
  }

  Status read_assets(const Json& root, std::string_view where, Manifest& manifest) {
    const auto found = root.find("shared_assets");
    if (found == nullptr) return Status();
    if (!found->is_object() || found->size() > kAssetsMax) {
      return invalid_bundle(where, fmt::format("'shared_assets' must be an object of at most {} assets", kAssetsMax));
    }
    for (const auto& [uri, folder] : found->members()) {
      LB_ASSIGN_OR_RETURN(const AssetRef ref, parse_asset_ref(uri, where));
      if (!ref.path.empty() || ref.uri != uri) {
        return invalid_bundle(where,
                              fmt::format("the shared asset '{}' is a file inside a shared asset", printable(uri)));
      }
      if (!folder.is_string()) return invalid_bundle(where, fmt::format("the place of '{}' must be a string", uri));
      LB_ASSIGN_OR_RETURN(std::string place, resolve("", folder.text(), where));
      if (!files_.has_folder(place)) {
        return invalid_bundle(where, fmt::format("the shared asset '{}' has no folder '{}'", uri, printable(place)));
      }
      manifest.shared_assets.emplace(uri, std::move(place));
    }
    return Status();
  }

  Status read_components(const Json& root, std::string_view where, Manifest& manifest) {
    const auto found = root.find("components");
    if (found == nullptr) return invalid_bundle(where, "'components' is missing");
    if (!found->is_object() || found->empty() || found->size() > kComponentsMax) {
      return invalid_bundle(where, fmt::format("'components' must be an object of 1 to {} components", kComponentsMax));
    }
    for (const auto& [name, body] : found->members()) {
      LB_RETURN_IF_ERROR(check_name(name, where));
      if (body.is_string()) {
        LB_ASSIGN_OR_RETURN(Component component, read_external(name, body.text(), where));
        manifest.components.push_back(std::move(component));
      } else if (body.is_object()) {
        LB_ASSIGN_OR_RETURN(Component component, read_component(name, "", body, where));
        manifest.components.push_back(std::move(component));
      } else {
        return invalid_bundle(where, fmt::format("the component '{}' must be an object or a path", printable(name)));
      }
    }
    return Status();
  }

  Result<Component> read_external(const std::string& name, const std::string& given, std::string_view where) {
    LB_ASSIGN_OR_RETURN(std::string file, resolve("", given, where));
    if (files_.has_folder(file)) file += file.empty() ? kComponentFile : std::string("/") + kComponentFile;
    if (!files_.has_file(file)) {
      return invalid_bundle(where,
                            fmt::format("the component '{}' has no file '{}'", printable(name), printable(file)));
    }
    LB_ASSIGN_OR_RETURN(const Json body, read_json(file));
    if (!body.is_object()) return invalid_bundle(place_of(file), "expected an object");
    const std::size_t slash = file.rfind('/');
    return read_component(name, slash == std::string::npos ? "" : file.substr(0, slash), body, place_of(file));
  }

  Result<Component> read_component(const std::string& name, std::string folder, const Json& body,
                                   std::string_view file) {
    const std::string where = fmt::format("{}: component '{}'", file, printable(name));
    LB_RETURN_IF_ERROR(check_keys(body, where, {"component_name", "variants", "additional_metadata"}));
    LB_RETURN_IF_ERROR(text(body, "component_name", where).status());
    Component component;
    component.name = name;
    component.folder = std::move(folder);
    const auto variants = body.find("variants");
    if (variants == nullptr || !variants->is_object() || variants->size() > kVariantsMax) {
      return invalid_bundle(where, fmt::format("'variants' must be an object of at most {} variants", kVariantsMax));
    }
    for (const auto& [variant_name, variant_body] : variants->members()) {
      LB_RETURN_IF_ERROR(check_name(variant_name, where));
      const std::string place = fmt::format("{}: variant '{}'", where, printable(variant_name));
      LB_ASSIGN_OR_RETURN(Variant variant, read_variant(variant_name, component.folder, variant_body, place));
      component.variants.push_back(std::move(variant));
    }
    component.additional_metadata = body.value("additional_metadata", Json());
    return component;
  }

  Result<Variant> read_variant(const std::string& name, std::string_view base, const Json& body,
                               std::string_view where) {
    if (!body.is_object()) return invalid_bundle(where, "expected an object");
    LB_RETURN_IF_ERROR(check_keys(
        body, where,
        {"variant_directory", "ep", "device", "compatibility_string", "executor_info", "additional_metadata"}));
    Variant variant;
    variant.name = name;
    LB_ASSIGN_OR_RETURN(variant.ep, text(body, "ep", where));
    LB_ASSIGN_OR_RETURN(variant.device, text(body, "device", where));
    LB_ASSIGN_OR_RETURN(variant.compatibility_string, text(body, "compatibility_string", where));
    LB_RETURN_IF_ERROR(read_folder(body, base, where, variant));
    LB_RETURN_IF_ERROR(read_slots(body, where, variant));
    variant.additional_metadata = body.value("additional_metadata", Json());
    return variant;
  }

  Status read_folder(const Json& body, std::string_view base, std::string_view where, Variant& variant) {
    const bool is_said = body.contains("variant_directory");
    LB_ASSIGN_OR_RETURN(std::string given, text(body, "variant_directory", where));
    if (!is_said) given = variant.name;
    auto folder = resolve(base, given, where);
    // A variant's name need not be the name of a folder.
    if (!folder.ok()) return is_said ? folder.status() : Status();
    if (files_.has_folder(*folder)) {
      variant.folder = *std::move(folder);
      return Status();
    }
    if (!is_said) return Status();
    return invalid_bundle(where, fmt::format("its folder '{}' is missing", printable(*folder)));
  }

  Status read_slots(const Json& body, std::string_view where, Variant& variant) {
    const auto found = body.find("executor_info");
    if (found == nullptr) return Status();
    if (!found->is_object() || found->size() > kConsumersMax) {
      return invalid_bundle(where,
                            fmt::format("'executor_info' must be an object of at most {} consumers", kConsumersMax));
    }
    for (const auto& [consumer, value] : found->members()) {
      LB_RETURN_IF_ERROR(check_name(consumer, where));
      const std::string place = fmt::format("{}: executor_info of '{}'", where, printable(consumer));
      Json slot = value;
      if (value.is_string()) {
        if (!variant.folder) return invalid_bundle(place, "is a file's name, but the variant has no folder");
        LB_ASSIGN_OR_RETURN(const std::string file, resolve(*variant.folder, value.text(), place));
        if (!files_.has_file(file))
          return invalid_bundle(place, fmt::format("its file '{}' is missing", printable(file)));
        LB_ASSIGN_OR_RETURN(slot, read_json(file));
      }
      if (!slot.is_object()) return invalid_bundle(place, "must be an object, or the path of a file with one");
      if (consumer == kLatebindSlot) {
        LB_ASSIGN_OR_RETURN(variant.latebind, parse_latebind_info(slot, place));
        if (!variant.folder && !variant.latebind->files.empty()) return invalid_bundle(place, "files, but no folder");
      } else {
        variant.executor_info.emplace(consumer, std::move(slot));
      }
    }
    return Status();
  }

  const PackageFiles& files_;
  const InstalledLayout installed_;
  bool is_installed_ = false;
  bool is_newer_ = false;  // than the schema that this version knows
  std::size_t read_bytes_ = 0;
};

}  // namespace

Result<Manifest> read_manifest(const PackageFiles& files, InstalledLayout installed) {
  return Reader(files, installed).read();
}

}  // namespace latebind::core
