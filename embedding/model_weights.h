// ModelWeights: the tensors of a model, wherever its files have them: one file, or the pieces of one, and those of the
// modules behind the network.
//
// Immutable once all files are in it; any thread may read then.
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
#include "core/shared_bytes.h"
#include "embedding/safetensors.h"

namespace latebind::embedding {

class ModelWeights {
 public:
  ModelWeights() = default;
  explicit ModelWeights(Safetensors file) { files_.push_back({std::move(file), {}}); }

  // `place` stands before the names of its tensors here: "2_Dense/". kInvalidModel when another file has one of them.
  [[nodiscard]] core::Status add(Safetensors file, std::string place);

  [[nodiscard]] bool contains(std::string_view name) const;
  // A tensor of floating-point numbers. The errors of Safetensors::find().
  [[nodiscard]] core::Result<graph::Weight> find(std::string_view name, std::span<const std::int64_t> shape) const;
  // The files, by Weight::file.
  [[nodiscard]] std::vector<core::FilePart> parts() const;

 private:
  struct File {
    Safetensors tensors;
    std::string place;

    // The name of the tensor in this file; none where it is not below the place.
    [[nodiscard]] std::optional<std::string_view> own_name(std::string_view name) const;
  };
  // The file with it; the last one where it might be but is not. Null where none could have it.
  [[nodiscard]] const File* file_of(std::string_view name) const;

  std::vector<File> files_;
};

}  // namespace latebind::embedding
