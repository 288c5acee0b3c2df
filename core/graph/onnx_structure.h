// Checks the outermost structure of an ONNX file before a vendor sees it: a truncated file, or one that is not an ONNX
// model, gets Latebind's own error with the position instead of each vendor's. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "core/result.h"
#include "core/status.h"

namespace latebind::graph {

// Walks the fields of ModelProto (protobuf's wire format; source: onnx.proto) by their lengths, without reading their
// content, which is cheap for a file of any size. kInvalidModel names the byte where the structure is broken, or says
// that there is no graph.
[[nodiscard]] core::Status check_onnx_structure(std::span<const std::byte> bytes);

// Returns false when no tensor of the model, in any graph, has its data in another file. Looks at the tensors' fields,
// not at their data. Returns true also when the model is damaged or nested too deeply to decide.
[[nodiscard]] bool may_name_external_data(std::span<const std::byte> bytes);

// The files that tensors of the model name as the place of their data.
struct ExternalLocations {
  std::set<std::string> names;  // relative to the model's own folder, as the model writes them
  bool any = false;             // some tensor has its data elsewhere, with or without a file name
  bool complete = true;         // false when the model is damaged, nested too deeply, or names more files
};
inline constexpr std::size_t kExternalLocationsMax = 65'536;
[[nodiscard]] ExternalLocations external_data_locations(std::span<const std::byte> bytes);

// Where a tensor has its data, according to the entries of its external_data.
struct ExternalPlace {
  static constexpr std::uint64_t kToTheEnd = std::numeric_limits<std::uint64_t>::max();

  std::string location{};
  std::uint64_t offset = 0;
  std::uint64_t length = kToTheEnd;  // of the file

  // Reads an entry. Returns false if it is damaged or a number is missing.
  bool take(std::span<const std::byte> entry);
  // Returns the tensor's data; std::nullopt if the file is too short.
  [[nodiscard]] std::optional<std::span<const std::byte>> data_in(std::span<const std::byte> file) const;
};

// Returns the model with new places for the data that its tensors, in any graph, have in files. `place_of` makes each
// new place; its errors are returned. kInvalidModel when the model is damaged or nested too deeply.
using NewPlace = std::function<core::Result<ExternalPlace>(ExternalPlace place)>;
[[nodiscard]] core::Result<std::string> with_external_places(std::span<const std::byte> bytes,
                                                             const NewPlace& place_of);

// Returns where the model has the data of its graph's initializers, by name, for those with raw data in the model
// itself. For a damaged model, those before the damage.
using InitializerData = std::map<std::string, std::span<const std::byte>, std::less<>>;
[[nodiscard]] InitializerData initializer_data(std::span<const std::byte> bytes);

}  // namespace latebind::graph
