// ModelWeights: the tensors of a model, from one file, from the pieces of one, and from the files of the modules after
// the network.
//
// Immutable after the last add(); any thread may then read. Keeps the files mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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

// The tensors of the low-rank changes of a matrix for all tasks (weights/adapters/task_weights.h).
struct TaskChange {
  std::string down{};    // [columns, in]; for a table of embeddings, [rows, columns]
  std::string up{};      // [out, columns]
  std::string scales{};  // [tasks + 1, columns]
  std::string rows{};    // [tasks + 1, out], the first row of a small table for each task; otherwise empty
  std::size_t columns = 0;
};

class ModelWeights {
 public:
  ModelWeights() = default;
  explicit ModelWeights(TensorFile file) { files_.push_back({std::move(file), {}}); }

  // Adds a file. `place`, such as "2_Dense/", is the prefix of its tensors' names here. Returns kInvalidModel if
  // another file has a tensor of the same name.
  [[nodiscard]] core::Status add(TensorFile file, std::string place);

  // Adds a file whose tensors replace those of the same names; tensors with new names are added.
  void replace(TensorFile file) { replacing_.push_back({std::move(file), {}}); }

  // Adds the changes of `tasks` tasks, by the names of the matrices.
  void set_tasks(std::size_t tasks, std::map<std::string, TaskChange> changes) {
    tasks_ = tasks;
    changes_ = std::move(changes);
  }
  [[nodiscard]] std::size_t tasks() const { return tasks_; }
  // Returns null if no task changes the tensor.
  [[nodiscard]] const TaskChange* change_of(const std::string& name) const {
    const auto found = changes_.find(name);
    return found == changes_.end() ? nullptr : &found->second;
  }

  // "MODULE.weight" is also found as "MODULE.parametrizations.weight.original", torch's name for a parametrized tensor.
  [[nodiscard]] bool contains(std::string_view name) const;
  // Returns std::nullopt if no file has the tensor.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> shape_of(std::string_view name) const;
  // Returns the names of all tensors.
  [[nodiscard]] std::vector<std::string> names() const;
  // Returns a tensor with its bytes. Returns the errors of TensorFile::find().
  [[nodiscard]] core::Result<StoredTensor> find_stored(std::string_view wanted,
                                                       std::span<const std::int64_t> shape) const;
  // Returns a tensor of floating-point numbers. Returns the errors of TensorFile::find().
  [[nodiscard]] core::Result<graph::Weight> find(std::string_view wanted, std::span<const std::int64_t> shape) const;
  // Returns the parts that Weight::file indexes: the files in the order of add(), then the copied tensors of each file
  // that has any, and then those of replace().
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
  // Returns the name under which a file has the tensor; `name` if none has it.
  [[nodiscard]] std::string stored_name(std::string_view name) const;

  std::vector<File> files_;
  std::vector<File> replacing_;  // the later one wins
  std::size_t tasks_ = 0;
  std::map<std::string, TaskChange> changes_;
};

}  // namespace latebind::embedding
