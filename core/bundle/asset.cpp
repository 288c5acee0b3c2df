#include "core/bundle/asset.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/bundle/path_rules.h"
#include "core/platform/digest.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

constexpr std::string_view kScheme = "sha256:";
constexpr std::string_view kFolderPrefix = "sha256-";
constexpr std::size_t kDigits = 64;

}  // namespace

bool is_sha256(std::string_view text) {
  return text.size() == kDigits &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_asset_ref(std::string_view text) {
  return text.starts_with(kScheme);
}

Result<AssetRef> parse_asset_ref(std::string_view reference, std::string_view where) {
  const std::size_t slash = std::min(reference.find('/'), reference.size());
  const std::string_view uri = reference.substr(0, slash);
  if (!is_asset_ref(uri) || !is_sha256(uri.substr(kScheme.size()))) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{}: '{}' is not a shared asset: expected 'sha256:' and 64 lower-case hexadecimal digits",
                              where, printable(reference)));
  }
  AssetRef ref{std::string(uri), {}};
  if (slash + 1 < reference.size()) {
    LB_ASSIGN_OR_RETURN(ref.path, join_package_path("", reference.substr(slash + 1), where));
  }
  return ref;
}

std::string default_asset_folder(std::string_view uri) {
  return fmt::format("shared_assets/{}{}", kFolderPrefix, uri.substr(kScheme.size()));
}

std::string asset_uri_of_folder(std::string_view name) {
  if (!name.starts_with(kFolderPrefix) || !is_sha256(name.substr(kFolderPrefix.size()))) return {};
  return fmt::format("{}{}", kScheme, name.substr(kFolderPrefix.size()));
}

std::string asset_uri(const std::map<std::string, std::string>& files) {
  platform::Sha256 digest;
  for (const auto& [path, sha256] : files) {
    digest.update(sha256);
    digest.update("  ");
    digest.update(path);
    digest.update("\n");
  }
  return std::string(kScheme) + digest.hex();
}

}  // namespace latebind::core
