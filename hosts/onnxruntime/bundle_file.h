// Bundles in files beside a model of the host.
//
// An EPContext node names the file, and says of which model it is and what it is compiled for, since what has the name
// may be another model's by now; more may be compiled for, since variants can be added to a bundle. Files are written
// under a name that is made of the same: two models never want the same one. Pure but for files; any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/platform/files/file_identity.h"
#include "hosts/onnxruntime/host.h"

namespace latebind::provider {

// Which bundle a node means: core/bundle/package_identity.h.
struct BundleIdentity {
  std::string model;                  // "" where a node does not say
  std::vector<std::string> variants;  // sorted
};

struct BundleFile {
  std::string name;  // as a node names it
  std::filesystem::path file;
  BundleIdentity identity;
  platform::FileIdentity was;  // of the file, when it was looked at
  bool is_new = false;         // of one that was placed: nothing had that name
};

// The bundle that a node names, in the folder of one of these models, the first that has it; "" stands for the working
// folder. Links are followed into the folders of the models and of the files that these are links to, as in the cache
// of the hub. Throws Failure for names and links that lead elsewhere, for what is no bundle, and for one that is not
// the `meant` one.
[[nodiscard]] BundleFile find_bundle(const std::vector<std::filesystem::path>& models, const std::string& name,
                                     const BundleIdentity& meant);

// As a node has it: "latebind bundle <model> <variant>,<variant>".
[[nodiscard]] std::string text_of(const BundleIdentity& identity);
// Throws Failure for such a text that is damaged; gives one without a model for any other text.
[[nodiscard]] BundleIdentity parse_bundle_identity(std::string_view text);

// Throws Failure when another file has the name by now, or somebody has written to it.
void check_unchanged(const BundleFile& bundle);

// A name for a bundle that is being written beside this model. What a killed process leaves there is removed by the
// next one that writes into the folder.
[[nodiscard]] std::filesystem::path draft_beside(const std::filesystem::path& model);

// Gives a finished draft its name. A bundle that is the same already stays and is used instead, unless it is damaged.
// The draft is gone in any case. Throws Failure when something else has that name, which is never replaced.
[[nodiscard]] BundleFile place_bundle(const std::filesystem::path& model, const std::filesystem::path& draft);

// Undoes place_bundle(), if the file is new and still the same.
void remove_bundle(const BundleFile& bundle) noexcept;

}  // namespace latebind::provider
