// GgufModel: a model in one GGUF file, as the folder that it would be: small files with their content, made from the
// metadata, and the weights.
//
// Immutable; any thread may use it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/tensor/shared_bytes.h"
#include "embedding/folder/gguf/network_files.h"

namespace latebind::embedding {

class GgufModel {
 public:
  // Reads the header of the file. Returns the errors of GgufHeader::read(), describe_gguf_network() and
  // gguf_tokenizer_json(), with where the weights come from if the file names it.
  static core::Result<GgufModel> open(const std::filesystem::path& file);

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  // The content of a small file by its path below the folder; std::nullopt if there is none.
  [[nodiscard]] std::optional<core::SharedBytes> find(std::string_view relative) const;
  // One line for people: what was assumed because the file does not say it. Empty if nothing was.
  [[nodiscard]] const std::string& assumed() const { return assumed_; }
  // The types of the matrices, for people.
  [[nodiscard]] const std::string& types() const { return types_; }

 private:
  GgufModel() = default;

  std::filesystem::path file_;
  std::map<std::string, core::SharedBytes, std::less<>> files_;
  std::string assumed_;
  std::string types_;
};

// Returns whether the file begins as GGUF does.
[[nodiscard]] bool is_gguf_file(const std::filesystem::path& file);
// Returns the GGUF file that is the model in a folder: the only one, where no other form of a model is. Returns
// std::nullopt if there is none, and kInvalidArgument with their names if there are several.
[[nodiscard]] core::Result<std::optional<std::filesystem::path>> find_gguf_model(const std::filesystem::path& folder);

}  // namespace latebind::embedding
