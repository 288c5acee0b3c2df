// ModelWeights: the tensors of a model, from one file, from the pieces of one, and from the files of the modules after
// the network.
//
// Immutable after the last add(); any thread may then read. Keeps the files mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/operators.h"
#include "core/result.h"
#include "core/tensor/shared_bytes.h"
#include "embedding/weights/tensor_file.h"

namespace latebind::embedding {

class ModelWeights {
 public:
  ModelWeights() = default;
  explicit ModelWeights(TensorFile file) { files_.push_back({std::move(file), {}}); }

  // Adds a file. `place`, such as "2_Dense/", is the prefix of its tensors' names here. Returns kInvalidModel if
  // another file has a tensor of the same name.
  [[nodiscard]] core::Status add(TensorFile file, std::string place);

  // Adds a file whose tensors replace those of the same names; tensors with new names are added.
  void replace(TensorFile file) { replacing_.push_back({std::move(file), {}}); }

  [[nodiscard]] bool contains(std::string_view name) const;
  // The names of all tensors.
  [[nodiscard]] std::vector<std::string> names() const;
  // Returns a tensor with its bytes. Returns the errors of TensorFile::find().
  [[nodiscard]] core::Result<StoredTensor> find_stored(std::string_view name,
                                                       std::span<const std::int64_t> shape) const;
  // Returns a tensor of floating-point numbers. Returns the errors of TensorFile::find().
  [[nodiscard]] core::Result<graph::Weight> find(std::string_view name, std::span<const std::int64_t> shape) const;
  // The files, in the order of add(), and then, for each file that has any, the tensors that were copied from it, and
  // at last those of replace(); indexed by Weight::file.
  [[nodiscard]] std::vector<core::FilePart> parts() const;

 private:
  struct File {
    TensorFile tensors;
    std::string place;

    // Returns the name of the tensor in this file, or std::nullopt if `name` does not begin with `place`.
    [[nodiscard]] std::optional<std::string_view> own_name(std::string_view name) const;
  };
  // Returns the file that has the tensor. If no file has it, returns the file with the longest matching place, or null
  // if no place matches.
  [[nodiscard]] const File* file_of(std::string_view name) const;

  std::vector<File> files_;
  std::vector<File> replacing_;  // the later one wins
};

}  // namespace latebind::embedding
