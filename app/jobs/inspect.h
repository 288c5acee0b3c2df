// What is in a bundle or in a program of ExecuTorch, whether it is still as it was written, and which parts load here;
// and what a model folder says the model is.
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
  std::filesystem::path place;  // a bundle's file or folder, a model folder, or a .pte
  bool verify = false;          // reads every file
  bool installed = false;       // the installed layout too, which may refer to any file of this machine
};

struct VariantDecision {
  std::string device;
  std::string variant;
  core::Status status;  // ok: it is used there
};

struct InspectReport {
  // The specification of a model folder, which has nothing else.
  std::optional<Json> model;
  std::optional<PteFile> program;
  // Of a program, the first bundle in it. Nothing when it has none.
  std::optional<core::Package> package;
  std::vector<core::PackageFiles::File> files;  // of the package
  std::optional<core::PackageReport> verification;
  std::optional<std::vector<VariantDecision>> decisions;
  // What embeds texts with the package assumes, because no file in it says how; empty: nothing.
  std::string assumed;
  // What they follow of the program's own compile specs, by key.
  std::map<std::string, std::string> followed;
};

// `explained_by`: whose placement says which devices every variant is tried on, in that order; null: nothing is loaded.
// What it leaves open, a program's own compile specs say, as they tell the delegate. kInvalidArgument when something is
// to be verified or explained in a program without a bundle, and for compile specs that the delegate would refuse; else
// the errors of opening.
[[nodiscard]] core::Result<InspectReport> inspect(const InspectOptions& options, const Runtime* explained_by,
                                                  const Client& client);

// The files below a folder of a package; "" is all of it.
struct Amount {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
};
[[nodiscard]] Amount amount_below(const std::vector<core::PackageFiles::File>& files, const std::string& folder);

// As `latebind inspect --help` says.
[[nodiscard]] Json to_json(const InspectReport& report);

}  // namespace latebind::app
