// ModelFile: the file from which the host read its model. Weights that the file contains unchanged need not be copied.
//
// The host may have changed a weight when it optimised the graph, and the file may have changed, so bytes are compared
// before they are referred to. Constant after construction; any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "core/graph/onnx_structure.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/page_release.h"

namespace latebind::provider {

class ModelFile {
 public:
  // Null if there is no such file, or no weights in it.
  static std::shared_ptr<const ModelFile> open(const std::filesystem::path& file);

  // The offset at which the file has exactly these bytes as the data of the initializer of that name; std::nullopt if
  // it does not have them.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::string_view name, std::string_view bytes) const;
  [[nodiscard]] const std::shared_ptr<const platform::MappedFile>& file() const { return file_; }

 private:
  explicit ModelFile(std::shared_ptr<const platform::MappedFile> file);

  const std::shared_ptr<const platform::MappedFile> file_;
  const graph::InitializerData initializers_;
  const platform::FilePages pages_;  // releases the pages that were compared
};

}  // namespace latebind::provider
