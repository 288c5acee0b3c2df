// ModelFiles: the files of an embedding model, in a folder from the hub, in a bundle, or described by a GGUF file.
//
// Files are named by the path that they have, or would have, below the opened place, so that messages are the same for
// both. A value with shared content; any thread may use it.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bundle/choose.h"
#include "core/bundle/package.h"
#include "core/json/read.h"
#include "core/json/value.h"
#include "core/model/model.h"
#include "core/platform/files/mapped_file.h"
#include "core/result.h"

namespace latebind::embedding {

class GgufModel;

// A role in a variant's `assets`, besides core::kModelFolderRole: the weights that the portable model refers to. One
// file, or an asset with several files at their places in the model's folder.
inline constexpr const char* kWeightsRole = "weights";

// The description of a model folder in messages.
inline constexpr std::string_view kWhatAModelIs =
    "a model folder holds config.json, tokenizer.json (or a vocabulary) and model.safetensors, pytorch_model.bin or "
    "onnx/model.onnx, as it comes from the Hugging Face hub (`latebind pull ORG/NAME` prints the folder of one), or "
    "one GGUF file; a bundle of it is made by `latebind compile`";

// A file that is mapped as a whole.
struct StoredFile {
  std::string name;  // for messages
  core::FilePart part;

  [[nodiscard]] std::span<const std::byte> bytes() const { return part.bytes.bytes; }
};

// The origin of a model, as far as its folder declares it; fields are empty if unknown.
struct ModelOrigin {
  std::string source;    // "org/name" on the hub
  std::string revision;  // the commit
};

class ModelFiles {
 public:
  ModelFiles() = default;

  // Opens a folder, a bundle or a GGUF file, which may be the only model of a folder. Reads no other file of a folder;
  // reads and checks the small files of a bundle. Returns the errors of Package::open(), find_gguf_model() and
  // GgufModel::open(), and kNotFound or kInvalidModel if `place` is something else.
  static core::Result<ModelFiles> open(const std::filesystem::path& place);
  // The same for a bundle that is open already, perhaps in memory. Its name becomes the place, for messages.
  static core::Result<ModelFiles> of(core::Package package);

  [[nodiscard]] const std::filesystem::path& place() const { return place_; }
  // The model's name, for messages: the folder's name, or the name in the bundle.
  [[nodiscard]] const std::string& name() const { return name_; }
  // The origin, from the folder's place in the hub's cache.
  [[nodiscard]] ModelOrigin origin() const;
  // Null unless the model is a GGUF file.
  [[nodiscard]] const GgufModel* gguf() const { return gguf_.get(); }
  // Returns an error as one about the files that the user has: those of a GGUF model are generated.
  [[nodiscard]] core::Status in_its_terms(core::Status status) const;
  // Returns the file's path on the disk; std::nullopt for files of a bundle, and for files generated from GGUF
  // metadata.
  [[nodiscard]] std::optional<std::filesystem::path> on_disk(const std::filesystem::path& file) const;
  // Null for a folder and for a GGUF file.
  [[nodiscard]] const core::Package* package() const { return package_ ? &*package_ : nullptr; }

  // In a bundle, the folder that holds the base of an adapter.
  static constexpr const char* kBaseFolder = "base_model";
  // Adds the folder of an adapter's base, which lies outside this model. relative() puts its files below kBaseFolder.
  void add_base(std::filesystem::path base) { base_ = std::move(base); }

  // The file's path below the place, "a/b" on every system.
  [[nodiscard]] std::string relative(const std::filesystem::path& file) const;
  [[nodiscard]] bool has(const std::filesystem::path& file) const;
  // Returns the sorted names of the folders in `folder` that have a file with the name `file`.
  [[nodiscard]] std::vector<std::string> folders_with(const std::filesystem::path& folder, std::string_view file) const;
  // Maps the file. Returns kNotFound, kPermissionDenied or kIo.
  [[nodiscard]] core::Result<StoredFile> open_file(const std::filesystem::path& file) const;
  // Returns the file's JSON, or std::nullopt if the file does not exist.
  [[nodiscard]] core::Result<std::optional<core::Json>> read_json(const std::filesystem::path& file,
                                                                  const core::JsonLimits& limits = {}) const;
  // Compares a file with the bundle's record of it. Always succeeds for a folder.
  [[nodiscard]] core::Status check(const std::filesystem::path& file) const;
  // Returns the bundle's claim of the file's content, which identifies it in caches without reading it. Empty for a
  // folder.
  [[nodiscard]] std::string identity(const std::filesystem::path& file) const;
  // Checks that claim. Returns kInvalidModel if it is false. Always succeeds for a folder.
  [[nodiscard]] core::Status prove(const std::filesystem::path& file) const;

 private:
  [[nodiscard]] const std::string* reference_to(const std::filesystem::path& file) const;
  // Finds the files of package_.
  [[nodiscard]] core::Status read_package();

  [[nodiscard]] static core::Result<ModelFiles> open_gguf(const std::filesystem::path& place,
                                                          const std::filesystem::path& file);

  std::filesystem::path place_;
  std::filesystem::path base_;  // the folder of an adapter's base model; empty without an adapter
  std::string name_;
  // Set for a GGUF file, whose path is place_.
  std::shared_ptr<const GgufModel> gguf_;
  // Set for a bundle.
  std::optional<core::Package> package_;
  const core::Variant* portable_ = nullptr;        // of package_
  std::map<std::string, std::string> references_;  // by path below the model's folder; arguments of Package::resolve()
};

}  // namespace latebind::embedding
