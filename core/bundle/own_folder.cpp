#include "core/bundle/own_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <system_error>

#include "core/bundle/package.h"
#include "core/platform/os_error.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

using std::filesystem::path;

// Another program's package need not record its files, and unrecorded files could be anybody's.
bool is_ours(const Manifest& manifest) {
  return std::ranges::any_of(manifest.components, [](const Component& component) {
    return std::ranges::any_of(component.variants, [](const Variant& variant) { return variant.latebind.has_value(); });
  });
}

}  // namespace

Status check_replaceable(const path& folder, const path& name) {
  if (is_empty_or_absent(folder)) return {};
  const auto refuse = [&](std::string_view why) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("the folder {} is not replaced: {}; name another one, or remove it yourself",
                              platform::quoted(name), why));
  };
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) return refuse("it is not a folder");
  const auto package = Package::open(folder);
  if (!package.ok()) return refuse(fmt::format("it is not a bundle ({})", package.status().message()));
  if (!is_ours(package->manifest())) return refuse("it is not a bundle of Latebind");
  const auto report = package->verify();
  if (!report.ok()) return refuse(report.status().message());
  if (!report->unsummed.empty()) {
    return refuse(
        fmt::format("it contains '{}', which is not a file of the bundle", printable(report->unsummed.front())));
  }
  return report->ok() ? Status() : refuse(report->damages.front().message());
}

bool is_empty_or_absent(const path& place) {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(place, error))) return true;
  return std::filesystem::is_directory(place, error) && std::filesystem::is_empty(place, error) && !error;
}

}  // namespace latebind::core
