// ModelFolder: the model in a folder or a bundle: one specification, or the two of a router.
//
// A value; immutable in use, safe for concurrent use.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "core/result.h"
#include "embedding/folder/specification.h"
#include "embedding/router.h"

namespace latebind::embedding {

class ModelFolder : public Router<Specification> {
 public:
  // Reads and checks the configurations of `given`, a folder or a bundle. Returns kNotFound, kInvalidModel or
  // kUnsupported, naming the file and the key, and the errors of find_onnx_file().
  static core::Result<ModelFolder> open(const std::filesystem::path& given, const FolderOptions& options = {});
  // The same for files that were opened already.
  static core::Result<ModelFolder> of(const ModelFiles& files, const FolderOptions& options = {});

  // The model's name, for messages.
  [[nodiscard]] const std::string& name() const { return documents().name(); }
  [[nodiscard]] const ModelFiles& files() const { return documents().files; }
  [[nodiscard]] const OutputKind& kind() const { return documents().kind(); }
  // Returns the specification for texts with this role. Returns kInvalidArgument if the role is required but missing.
  [[nodiscard]] core::Result<const Specification*> route_for(TextRole role) const {
    return Router::route_for(role, name());
  }
  // Returns the specification, or those of both routes, as an object.
  [[nodiscard]] core::Json describe() const;

 private:
  // Does the same as of(), with errors that may be about generated files.
  static core::Result<ModelFolder> read(const ModelFiles& files, const FolderOptions& options);
  explicit ModelFolder(Router<Specification> routes) : Router(std::move(routes)) {}
};

}  // namespace latebind::embedding
