// ModelFiles: the files of an embedding model, wherever they are: in a folder from the hub, or in a bundle.
//
// Files are named by the path that they have or would have below the place that was opened, so that messages read the
// same for both. A value with shared content; any thread.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/bundle/choose.h"
#include "core/bundle/package.h"
#include "core/json.h"
#include "core/json_text.h"
#include "core/model.h"
#include "core/platform/files/mapped_file.h"
#include "core/result.h"

namespace latebind::embedding {

// A role in a variant's `assets`, beside core::kModelFolderRole: the weights that the portable model refers to. One
// file, or an asset with several at the places that they have in the model's folder.
inline constexpr const char* kWeightsRole = "weights";

// For messages.
inline constexpr std::string_view kWhatAModelIs =
    "a model folder holds config.json, tokenizer.json (or a vocabulary) and model.safetensors or onnx/model.onnx, as "
    "it comes from the Hugging Face hub; a bundle of it is made by `latebind compile`";

// A file that was mapped, all of it.
struct StoredFile {
  std::string name;  // for messages
  core::FilePart part;

  [[nodiscard]] std::span<const std::byte> bytes() const { return part.bytes.bytes; }
};

// Where a model comes from, as far as its folder says; empty when unknown.
struct ModelOrigin {
  std::string source;    // "org/name" on the hub
  std::string revision;  // the commit
};

class ModelFiles {
 public:
  ModelFiles() = default;

  // Reads no file of a folder; a bundle's small files are read and checked. The errors of Package::open();
  // kNotFound and kInvalidModel for what is neither folder nor bundle or has no embedding model in it.
  static core::Result<ModelFiles> open(const std::filesystem::path& place);
  // Those of a bundle, which may be in memory: the place has its name, for messages. The same errors.
  static core::Result<ModelFiles> of(core::Package package);

  [[nodiscard]] const std::filesystem::path& place() const { return place_; }
  // Of the model, for messages: the folder's own name, or what the bundle says.
  [[nodiscard]] const std::string& name() const { return name_; }
  // From the folder's place in the hub's cache.
  [[nodiscard]] ModelOrigin origin() const;
  // Null for a folder.
  [[nodiscard]] const core::Package* package() const { return package_ ? &*package_ : nullptr; }

  // The file's path below the place, "a/b" on every system.
  [[nodiscard]] std::string relative(const std::filesystem::path& file) const;
  [[nodiscard]] bool has(const std::filesystem::path& file) const;
  // Maps it. kNotFound, kPermissionDenied, kIo.
  [[nodiscard]] core::Result<StoredFile> open_file(const std::filesystem::path& file) const;
  // The file's JSON, or nothing when there is no such file.
  [[nodiscard]] core::Result<std::optional<nlohmann::json>> read_json(const std::filesystem::path& file,
                                                                      const core::JsonLimits& limits = {}) const;
  // Compares a file with what the bundle recorded of it; a folder has nothing to compare with.
  [[nodiscard]] core::Status check(const std::filesystem::path& file) const;
  // What identifies the file's content in caches, without reading it: the bundle's claim. Empty for a folder.
  [[nodiscard]] std::string identity(const std::filesystem::path& file) const;
  // Checks that claim. kInvalidModel when it is false; a folder has none.
  [[nodiscard]] core::Status prove(const std::filesystem::path& file) const;

 private:
  [[nodiscard]] const std::string* reference_to(const std::filesystem::path& file) const;
  // Finds the files of package_.
  [[nodiscard]] core::Status read_package();

  std::filesystem::path place_;
  std::string name_;
  // Of a bundle.
  std::optional<core::Package> package_;
  const core::Variant* portable_ = nullptr;        // of package_
  std::map<std::string, std::string> references_;  // by path below the model's folder; what Package::resolve() takes
};

}  // namespace latebind::embedding
