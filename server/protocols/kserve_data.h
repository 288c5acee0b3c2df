// Reads the elements of an input of an inference request, from JSON or from binary data. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/tensor/tensor.h"
#include "server/protocols/json_body.h"
#include "server/protocols/kserve_request.h"
#include "server/protocols/kserve_types.h"

namespace latebind::server::kserve {

// An input as described in JSON. `data` points into the body.
struct InputBody {
  std::string name;
  const DataType* type = nullptr;
  core::Shape shape;
  std::optional<std::size_t> binary_bytes;
  const Json* data = nullptr;
};

// Fills the tensor with the input. Binary data is taken from the front of `binary`. The texts of a TextTensor are
// dropped if they are more than `texts_room`, which is reduced otherwise.
[[nodiscard]] Problem read_data(const InputBody& input, std::string_view& binary, std::size_t& texts_room,
                                NamedTensor& tensor);
[[nodiscard]] Problem read_data(const InputBody& input, std::string_view& binary, std::size_t& texts_room,
                                TextTensor& tensor);

}  // namespace latebind::server::kserve
