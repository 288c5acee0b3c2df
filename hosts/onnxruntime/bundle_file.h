// Bundles in files beside a model of the host.
//
// An EPContext node names the file, and identifies its model and its variants, since another model's file may have that
// name by now. A file may have more variants, because variants can be added to a bundle. The name of a written file is
// derived from the same identity, so that two models never need the same name. The functions only access files; any
// thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/platform/files/file_identity.h"
#include "hosts/onnxruntime/host.h"

namespace latebind::provider {

// Which bundle a node means; see core/bundle/package_identity.h.
struct BundleIdentity {
  std::string model;                  // "" if the node does not say
  std::vector<std::string> variants;  // sorted
};

struct BundleFile {
  std::string name;  // the name in a node
  std::filesystem::path file;
  BundleIdentity identity;
  platform::FileIdentity was;  // the file's identity when it was examined
  bool is_new = false;         // for a placed bundle: the file did not exist before
};

// Finds the bundle that a node names, in the first of these models' folders that has it; "" stands for the working
// folder. Links are followed into the folders of the models and of the files to which these are links, as in the hub's
// cache. Throws Failure for names and links that lead elsewhere, for files that are not bundles, and for a bundle that
// is not `meant`.
[[nodiscard]] BundleFile find_bundle(const std::vector<std::filesystem::path>& models, const std::string& name,
                                     const BundleIdentity& meant);

// The text in a node: "latebind bundle <model> <variant>,<variant>".
[[nodiscard]] std::string text_of(const BundleIdentity& identity);
// Throws Failure for a damaged text; returns an identity without a model for texts of others.
[[nodiscard]] BundleIdentity parse_bundle_identity(std::string_view text);

// Throws Failure if the file was replaced or changed since it was found.
void check_unchanged(const BundleFile& bundle);

// A name for a bundle that is being written beside this model. The next writer into the folder removes what a killed
// process has left there.
[[nodiscard]] std::filesystem::path draft_beside(const std::filesystem::path& model);

// Gives a finished draft its name. An existing equal bundle is used instead, unless it is damaged. The draft is removed
// in any case. Throws Failure if another file has that name; it is never replaced.
[[nodiscard]] BundleFile place_bundle(const std::filesystem::path& model, const std::filesystem::path& draft);

// Undoes place_bundle() if the file is new and unchanged.
void remove_bundle(const BundleFile& bundle) noexcept;

}  // namespace latebind::provider
