// Reports what a bundle or an ExecuTorch program contains, whether it is intact, and which variants load here; and the
// specification of a model folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/client.h"
#include "app/jobs/pte_file.h"
#include "app/json_text.h"
#include "app/runtime.h"
#include "core/bundle/package.h"
#include "core/result.h"

namespace latebind::app {

struct InspectOptions {
  std::filesystem::path place;  // a bundle, as a file or a folder; a model folder; or a .pte
  bool verify = false;          // verifies every file
  bool installed = false;       // also reads the installed layout, which may refer to any file of this machine
};

struct VariantDecision {
  std::string device;
  std::string variant;
  core::Status status;  // ok: the variant is used on the device
};

struct InspectReport {
  // The specification of a model folder, which has nothing else.
  std::optional<Json> model;
  std::optional<PteFile> program;
  // The package. For a program, its first bundle; std::nullopt for a program without a bundle.
  std::optional<core::Package> package;
  std::vector<core::PackageFiles::File> files;  // of the package
  std::optional<core::PackageReport> verification;
  std::optional<std::vector<VariantDecision>> decisions;
  // What embedding assumes because no file of the package says it. Empty if nothing is assumed.
  std::string assumed;
  // The program's compile specs that `decisions` follow, by key.
  std::map<std::string, std::string> followed;
};

// If `explained_by` is not null, decides every variant for each device of its placement, in that order. A program's
// compile specs supply what `explained_by` leaves open, as they do for the delegate. Returns kInvalidArgument if a
// program without a bundle is to be verified or explained, or if the delegate would reject its compile specs; otherwise
// the errors of opening.
[[nodiscard]] core::Result<InspectReport> inspect(const InspectOptions& options, const Runtime* explained_by,
                                                  const Client& client);

// How many files and bytes are below a folder of a package. "" is the whole package.
struct Amount {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
};
[[nodiscard]] Amount amount_below(const std::vector<core::PackageFiles::File>& files, const std::string& folder);

// As `latebind inspect --help` says.
[[nodiscard]] Json to_json(const InspectReport& report);

}  // namespace latebind::app
