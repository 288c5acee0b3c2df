#include "app/jobs/unpack.h"

#include <fmt/format.h>

#include <utility>

#include "app/apart.h"
#include "core/bundle/package.h"
#include "core/bundle/package_writer.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/output_folder.h"

namespace latebind::app {
namespace {

using core::Status;
using core::StatusCode;

Status check_place(const std::string& bundle, const std::string& folder, const Client& client) {
  if (folder == "-") {
    return {StatusCode::kInvalidArgument,
            fmt::format("{} -: a bundle is unpacked into a folder: give its name", client.name("output"))};
  }
  const auto place = platform::OutputFolder::place_of(platform::path_from_utf8(folder));
  if (place.status().code() == StatusCode::kInvalidArgument) return place.status();
  return check_apart({client.name("output"), folder}, {client.name("bundle"), bundle});
}

Status write(const std::string& bundle, const std::string& folder) {
  LB_ASSIGN_OR_RETURN(const auto package, core::Package::open(platform::path_from_utf8(bundle)));
  // Checks each file against the manifest, which covers more than the ZIP's checksums.
  LB_ASSIGN_OR_RETURN(const auto verified, package.verify());
  if (!verified.ok()) return verified.damages.front();
  return core::unpack_package(package, platform::path_from_utf8(folder));
}

}  // namespace

Placed unpack(const std::string& bundle, const std::string& folder, const Client& client) {
  if (Status wrong = check_place(bundle, folder, client); !wrong.ok()) return {std::move(wrong), true};
  return {write(bundle, folder)};
}

}  // namespace latebind::app
