// GgufModel: a model in one GGUF file, or in the pieces of a split one, presented as a model folder. The configuration
// and the tokenizer are generated from the file's metadata; the weights are the file or the pieces themselves.
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
  // Reads the header of the file, which may be any piece of a split one, and those of the other pieces. Returns
  // kNotFound if a piece is missing, the errors of GgufHeader::read(), describe_gguf_network() and
  // gguf_tokenizer_json(), with the origin of the weights if the file declares it.
  static core::Result<GgufModel> open(const std::filesystem::path& file);

  // The file, or its first piece.
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  // The name of the file without its suffix, and without the number of a piece.
  [[nodiscard]] std::string name() const;
  // Returns the file of weights that has this path below the folder; std::nullopt if there is no such file.
  [[nodiscard]] std::optional<std::filesystem::path> weights(std::string_view relative) const;
  // Returns the content of a generated file by its path below the folder; std::nullopt if there is no such file.
  [[nodiscard]] std::optional<core::SharedBytes> find(std::string_view relative) const;
  // Returns an error about a generated file as one about the GGUF file and its keys; other errors stay as they are.
  [[nodiscard]] core::Status in_its_terms(const core::Status& status) const;
  // Returns one line for people that says which defaults replace missing metadata, or "" if no metadata is missing.
  [[nodiscard]] const std::string& assumed() const { return assumed_; }
  // Returns the types of the matrices, for people: "Q4_K, Q6_K".
  [[nodiscard]] const std::string& types() const { return types_; }

 private:
  GgufModel() = default;

  // Adds the tensors of the other pieces to the header of the first one, and the list of all.
  [[nodiscard]] core::Status add_pieces(GgufHeader& header);

  std::filesystem::path file_;
  std::map<std::string, std::filesystem::path, std::less<>> weights_;
  std::map<std::string, core::SharedBytes, std::less<>> files_;
  std::string architecture_;
  std::string assumed_;
  std::string types_;
};

// Returns whether this is a regular file that begins with kGgufMagic.
[[nodiscard]] bool is_gguf_file(const std::filesystem::path& file);
// Returns whether the name ends in ".gguf", in upper or lower case.
[[nodiscard]] bool has_gguf_suffix(const std::filesystem::path& file);
// Returns the only GGUF file, or a piece of the only one, of a folder that contains no other model. Returns
// std::nullopt if the folder contains no GGUF file or another model, and kInvalidArgument, naming the files, if it
// contains several.
[[nodiscard]] core::Result<std::optional<std::filesystem::path>> find_gguf_model(const std::filesystem::path& folder);

}  // namespace latebind::embedding
