// Finds the tensors of a dictionary in a pickle of torch, and where their elements are. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "embedding/weights/torch/pickle.h"

namespace latebind::embedding {

// A storage, in which tensors have their elements. Several tensors may share one.
struct TorchStorage {
  std::string type;  // "F32"
  std::size_t element_size = 0;
  std::uint64_t elements = 0;  // as its tensors declare it
  std::uint64_t offset = 0;    // in the file
};
using TorchStorages = std::map<std::string, TorchStorage, std::less<>>;

struct TorchTensor {
  std::string name;
  std::string storage;      // the key in TorchStorages
  std::uint64_t first = 0;  // its first element, in the storage
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // in elements

  // Returns whether the elements follow each other in the order of the shape.
  [[nodiscard]] bool is_contiguous() const;
  // Returns the number of elements from the first to the last one in the storage; 0 for a tensor without elements.
  [[nodiscard]] std::uint64_t extent() const;
};

struct TorchTensors {
  std::vector<TorchTensor> tensors;
  TorchStorages storages;  // `offset` is not set
};

// Reads the dictionary of tensors that the pickle is. Other values of the dictionary are ignored. Returns
// kInvalidModel, naming the tensor.
[[nodiscard]] core::Result<TorchTensors> find_tensors(const Pickle& pickle);

}  // namespace latebind::embedding
